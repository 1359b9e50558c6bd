"""What the schema says about a place in the file: its section, its field, what may stand there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import annotated_types as at
from pydantic import Tag
from pydantic.fields import FieldInfo

from serve_app.config.schema.base import Section
from serve_app.config.schema.decisions import Group, Leaf
from serve_app.config.schema.document import Config
from serve_app.config.tree import Loc


@dataclass(frozen=True, slots=True)
class Place:
    """``loc`` is pydantic's location without the tags of unions. ``section`` holds the place as
    its member, ``field`` is that member, ``kind`` the type of what stands at the place itself.
    ``others``: where a key of the section tells it apart from others, those.
    """

    loc: Loc
    section: type[Section] | None
    field: FieldInfo | None
    kind: Any
    others: tuple[type[Section], ...] = ()

    def allowed(self) -> tuple[str, ...]:
        """The values that may stand here, where they can be listed."""
        values = _values(self.kind)
        if self.section is not None and self.loc[-1:] == (_telling((self.section, *self.others)),):
            fields = (other.model_fields[str(self.loc[-1])] for other in self.others)
            values += [value for field in fields for value in _values(field.annotation)]
        return tuple(map(_written, values))

    def belongs(self) -> str | None:
        """``provider: systemone``, where the key of this place is a key of that section alone."""
        tells = _telling((self.section, *self.others)) if self.section is not None else None
        for other in self.others if tells is not None else ():
            if self.loc[-1] in keys(other):
                (value,) = _values(other.model_fields[str(tells)].annotation)
                return f"{tells}: {value}"
        return None

    def range(self) -> str | None:
        """``1 to 60000``, ``more than 0``, …"""
        return _range(self.field.metadata) if self.field is not None else None


def place(loc: tuple[str | int, ...]) -> Place:
    """Where pydantic's error location ``loc`` is in the schema.

    At its end, ``[key]`` says that the key is wrong and not what stands under it.
    """
    loc = loc[:-1] if loc[-1:] == ("[key]",) else loc
    clean: list[str | int] = []
    section: type[Section] | None = None
    others: tuple[type[Section], ...] = ()
    field: FieldInfo | None = None
    kind: Any = Config
    members: tuple[type[Section], ...] = ()
    for part in loc:
        tagged = _tagged(kind, part)
        if tagged is not None:
            members = tuple(o for o in _options(kind) if o is not tagged)
            kind = tagged
        else:
            clean.append(part)
            section, field, kind = _step(_section(kind), kind, part)
            others, members = members, ()
    return Place(tuple(clean), section, field, kind, others)


def keys(section: type[Section]) -> list[str]:
    """The keys a section may have. A condition's are those of leaves and groups."""
    owners = (Leaf, Group) if section in (Leaf, Group) else (section,)
    return [f.alias or name for owner in owners for name, f in owner.model_fields.items()]


def _step(
    section: type[Section] | None, kind: Any, part: str | int
) -> tuple[type[Section] | None, FieldInfo | None, Any]:
    if section is not None:
        for name, field in section.model_fields.items():
            if part == (field.alias or name):
                return section, field, field.annotation
        return section, None, None
    for option in _options(kind):
        arguments = get_args(option)
        if get_origin(option) is list and isinstance(part, int):
            return None, None, arguments[0]
        if get_origin(option) is dict:
            return None, None, arguments[1]
    return None, None, None


def _section(kind: Any) -> type[Section] | None:
    sections = [o for o in _options(kind) if isinstance(o, type) and issubclass(o, Section)]
    return sections[0] if len(sections) == 1 else None


def _tagged(kind: Any, part: str | int) -> Any:
    """The member of a tagged union that pydantic names with ``part``."""
    union = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    for member in get_args(union):
        if get_origin(member) is Annotated and Tag(str(part)) in get_args(member)[1:]:
            return get_args(member)[0]
    return None


def _telling(members: tuple[type[Section], ...]) -> str | None:
    """The key whose value tells these sections apart: a literal that each of them requires."""
    for name, field in members[0].model_fields.items() if len(members) > 1 else ():
        if all(
            name in member.model_fields
            and member.model_fields[name].is_required()
            and _values(member.model_fields[name].annotation)
            for member in members
        ):
            return field.alias or name
    return None


def _options(kind: Any) -> Iterator[Any]:
    origin = get_origin(kind)
    if origin is Annotated:
        yield from _options(get_args(kind)[0])
    elif origin in (Union, UnionType):
        for member in get_args(kind):
            yield from _options(member)
    else:
        yield kind


def _values(kind: Any) -> list[Any]:
    return [v for o in _options(kind) if get_origin(o) is Literal for v in get_args(o)]


def _written(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _range(metadata: Iterable[Any]) -> str | None:
    low = high = None
    for bound in metadata:
        if isinstance(bound, at.Ge):
            low = f"{bound.ge}"
        elif isinstance(bound, at.Gt):
            low = f"more than {bound.gt}"
        elif isinstance(bound, at.Le):
            high = f"{bound.le}"
        elif isinstance(bound, at.Lt):
            high = f"less than {bound.lt}"
    if low is None:
        return f"up to {high}" if high is not None else None
    if high is None:
        return low if low.startswith("more") else f"{low} or more"
    return f"{low} to {high}"
