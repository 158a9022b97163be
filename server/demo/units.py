"""Units of measure: what each one is, in its dimension's base unit. A table and one function over it."""

from types import MappingProxyType

_SCALES = {
    "length (metre)": {
        "mm": 0.001, "cm": 0.01, "m": 1.0, "km": 1_000.0, "in": 0.0254, "ft": 0.3048, "yd": 0.9144, "mi": 1_609.344,
        "nmi": 1_852.0,
    },
    "mass (kilogram)": {
        "mg": 1e-6, "g": 0.001, "kg": 1.0, "t": 1_000.0, "oz": 0.028349523125, "lb": 0.45359237, "st": 6.35029318,
    },
    "volume (litre)": {
        "ml": 0.001, "cl": 0.01, "l": 1.0, "m3": 1_000.0, "tsp": 0.00492892159375, "tbsp": 0.01478676478125,
        "cup": 0.2365882365, "pt": 0.473176473, "gal": 3.785411784,
    },
    "area (square metre)": {
        "cm2": 1e-4, "m2": 1.0, "ha": 10_000.0, "km2": 1e6, "sqft": 0.09290304, "acre": 4_046.8564224,
    },
    "speed (metre per second)": {"m/s": 1.0, "km/h": 1 / 3.6, "mph": 0.44704, "kn": 1_852 / 3_600},
    "duration (second)": {"ms": 0.001, "s": 1.0, "min": 60.0, "h": 3_600.0, "d": 86_400.0, "wk": 604_800.0},
    "data (byte)": {
        "B": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30,
        "TiB": 2.0**40,
    },
    "energy (joule)": {"J": 1.0, "kJ": 1_000.0, "cal": 4.184, "kcal": 4_184.0, "Wh": 3_600.0, "kWh": 3.6e6},
    "pressure (pascal)": {"Pa": 1.0, "hPa": 100.0, "kPa": 1_000.0, "bar": 1e5, "atm": 101_325.0, "psi": 6_894.757293168},
}  # fmt: skip
# Temperatures also differ in their zero: kelvin = (value + offset) * factor.
_TEMPERATURES = {"K": (0.0, 1.0), "C": (273.15, 1.0), "F": (459.67, 5 / 9)}

# unit -> (dimension, offset, factor)
UNITS = MappingProxyType(
    {unit: (name, 0.0, factor) for name, scale in _SCALES.items() for unit, factor in scale.items()}
    | {unit: ("temperature (kelvin)", offset, factor) for unit, (offset, factor) in _TEMPERATURES.items()}
)


def convert(value: float, source: str, target: str) -> float:
    """`value` in another unit.

    Raises:
        KeyError: no such unit.
        ValueError: the two units measure different things.
    """
    dimension, offset, factor = UNITS[source]
    target_dimension, target_offset, target_factor = UNITS[target]
    if dimension != target_dimension:
        raise ValueError(f"{source} measures {dimension}, {target} measures {target_dimension}")
    return (value + offset) * factor / target_factor - target_offset
