"""What the demo works on: a few small files about a bicycle workshop, and the same workshop's database.

Writes only inside the folder that it is given; must never replace a file that is there.
"""

import sqlite3
from contextlib import closing
from pathlib import Path
from types import MappingProxyType

DATABASE = "workshop.db"

FILES = MappingProxyType(
    {
        "README.txt": "Spoke & Sons, bicycle workshop.\nOrders are in workshop.db, prices in prices.csv, notes in notes/.\n",
        "notes/monday.txt": "Call the tyre supplier before noon.\nMrs Hopper collects the red tandem.\n",
        "notes/tuesday.txt": "Order brake cables, size 1.6 mm.\nThe tandem needs a new chain; tell Mrs Hopper.\n",
        "notes/ideas.txt": "Winter service at a fixed price.\nA bench by the window for people who wait.\n",
        "prices.csv": (
            "item,unit_price,in_stock\n"
            "inner tube,6.50,40\nbrake cable,4.20,12\nchain,18.90,7\ntyre,24.00,15\nspoke,0.80,300\nbell,9.90,3\n"
        ),
    }
)

SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, town TEXT NOT NULL);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    work TEXT NOT NULL,
    price REAL NOT NULL,
    ordered_on TEXT NOT NULL,
    done INTEGER NOT NULL DEFAULT 0
);
"""
CUSTOMERS = ((1, "Ada Hopper", "Millbrook"), (2, "Ben Ortiz", "Easton"), (3, "Chi Wong", "Millbrook"))
ORDERS = (
    (1, 1, "new chain for the tandem", 41.5, "2026-03-02", 0),
    (2, 2, "true the rear wheel", 18.0, "2026-03-02", 1),
    (3, 3, "winter service", 65.0, "2026-03-04", 0),
    (4, 1, "two tyres", 56.0, "2026-03-05", 1),
    (5, 2, "brake cables", 22.4, "2026-03-06", 0),
)


def prepare(folder: Path) -> None:
    """Fill a folder with the sample files and `workshop.db`.

    Raises:
        FileExistsError: when one of them is there already.
    """
    for name, content in FILES.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", newline="") as opened:
            opened.write(content)
    database = folder / DATABASE
    database.touch(exist_ok=False)
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executescript(SCHEMA)
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?)", CUSTOMERS)
        connection.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)", ORDERS)
