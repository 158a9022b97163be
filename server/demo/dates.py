"""The date and time tools of the `everyday` server. Times carry a zone or an offset; nothing here guesses one."""

import calendar
from datetime import UTC, date, datetime, timedelta, tzinfo
from difflib import get_close_matches
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import BaseModel, Field

from server.demo.serving import Refused

MAX_ZONES = 100
MAX_BUSINESS_DAYS_SPAN = 100_000  # some 270 years, counted day by day
FRIDAY = 5

Zone = Annotated[str, Field(description="IANA time zone, such as 'Europe/Berlin' or 'UTC'.", max_length=64)]
Day = Annotated[str, Field(description="Date as YYYY-MM-DD.", max_length=10)]
Amount = Annotated[int, Field(ge=-120_000, le=120_000)]


class Moment(BaseModel, frozen=True):
    time: Annotated[str, Field(description="ISO 8601 with the offset from UTC.")]
    time_zone: str
    weekday: str
    daylight_saving: bool


class Conversion(BaseModel, frozen=True):
    source: Moment
    target: Moment
    difference_hours: Annotated[float, Field(description="How many hours the target's clocks are ahead.")]


class CalendarDay(BaseModel, frozen=True):
    date: str
    weekday: str
    iso_week: str
    day_of_year: int
    leap_year: bool


class Span(BaseModel, frozen=True):
    days: Annotated[int, Field(description="From the first date to the second; negative when that comes earlier.")]
    weeks: int
    remaining_days: int
    business_days: Annotated[int, Field(description="Mondays to Fridays, the later date not counted.")]


class Zones(BaseModel, frozen=True):
    time_zones: list[str]
    more: Annotated[bool, Field(description="Whether there are more than are named.")]


def current_time(time_zone: Zone = "UTC") -> Moment:
    """Tell the date and time now in a time zone."""
    return _moment(datetime.now(_zone(time_zone)), time_zone)


def convert_time(
    time: Annotated[
        str,
        Field(
            description="Local time in the source zone, such as '2026-03-29T14:30' or '14:30' for today.", max_length=32
        ),
    ],
    source_time_zone: Zone,
    target_time_zone: Zone,
) -> Conversion:
    """Convert a local time of one time zone into the local time of another, daylight saving included."""
    zone = _zone(source_time_zone)
    source = _local_time(time, zone)
    target_zone = _zone(target_time_zone)
    try:
        target = source.astimezone(target_zone)
    except OverflowError as error:
        raise Refused("The result lies outside the years 1 to 9999.") from error
    ahead = (target.utcoffset() or timedelta()) - (source.utcoffset() or timedelta())
    return Conversion(
        source=_moment(source, source_time_zone),
        target=_moment(target, target_time_zone),
        difference_hours=ahead / timedelta(hours=1),
    )


def add_to_date(day: Day, years: Amount = 0, months: Amount = 0, weeks: Amount = 0, days: Amount = 0) -> CalendarDay:
    """Add or subtract years, months, weeks and days. A day that the month does not have becomes its last one."""
    start = _date(day)
    year, month = divmod((start.year + years) * 12 + start.month - 1 + months, 12)
    try:
        first = date(year, month + 1, 1)
        last_day = calendar.monthrange(first.year, first.month)[1]
        moved = first.replace(day=min(start.day, last_day))
        return _calendar_day(moved + timedelta(weeks=weeks, days=days))
    except (ValueError, OverflowError) as error:
        raise Refused("The result lies outside the years 1 to 9999.") from error


def days_between(first: Day, second: Day) -> Span:
    """Count the days, whole weeks and business days from one date to another."""
    start, end = _date(first), _date(second)
    days = (end - start).days
    if abs(days) > MAX_BUSINESS_DAYS_SPAN:
        raise Refused(f"These dates are more than {MAX_BUSINESS_DAYS_SPAN:,} days apart.")
    early = min(start, end)
    business = sum((early + timedelta(number)).isoweekday() <= FRIDAY for number in range(abs(days)))
    weeks, rest = divmod(abs(days), 7)
    return Span(days=days, weeks=weeks, remaining_days=rest, business_days=business)


def list_time_zones(
    contains: Annotated[str, Field(description="Part of the name, such as 'america' or 'paris'.", max_length=64)] = "",
    limit: Annotated[int, Field(description="How many to name at most.", ge=1, le=MAX_ZONES)] = 50,
) -> Zones:
    """List time zone names, all of them or those that contain a text."""
    found = sorted(name for name in available_timezones() if contains.casefold() in name.casefold())
    return Zones(time_zones=found[:limit], more=len(found) > limit)


def _zone(name: str) -> tzinfo:
    if name.upper() in ("UTC", "Z"):
        return UTC  # also where the machine has no time zone data
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:  # unknown, not a plain name, or a folder of zones
        known = available_timezones()
        if not known:
            raise Refused("This machine has no time zone data; only UTC works.") from error
        close = "".join(f" Do you mean {zone}?" for zone in get_close_matches(name, known, n=1))
        raise Refused(f"There is no time zone {name!r}.{close} Use list_time_zones.") from error


def _local_time(text: str, zone: tzinfo) -> datetime:
    today = datetime.now(zone).date().isoformat()
    try:
        found = datetime.fromisoformat(text if "-" in text else f"{today}T{text}")
    except ValueError as error:
        raise Refused(f"{text!r} is no time. Write '2026-03-29T14:30' or '14:30'.") from error
    if found.tzinfo is not None:
        raise Refused(f"{text!r} has an offset of its own. Leave it out; source_time_zone says the zone.")
    return found.replace(tzinfo=zone)


def _date(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise Refused(f"{text!r} is no date. Write it as 2026-03-29.") from error


def _moment(time: datetime, zone: str) -> Moment:
    return Moment(
        time=time.isoformat(timespec="seconds"),
        time_zone=zone,
        weekday=f"{time:%A}",
        daylight_saving=bool(time.dst()),
    )


def _calendar_day(day: date) -> CalendarDay:
    year, week, _ = day.isocalendar()
    return CalendarDay(
        date=day.isoformat(),
        weekday=f"{day:%A}",
        iso_week=f"{year}-W{week:02}",
        day_of_year=day.timetuple().tm_yday,
        leap_year=calendar.isleap(day.year),
    )
