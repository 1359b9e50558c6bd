"""Invented values of personal data, in the formats that people write them (S1-15)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, Final

from faker import Faker

LOCALES: Final = (
    *("en_US", "en_US", "en_GB", "en_IN", "en_AU", "de_DE", "fr_FR", "es_ES", "es_MX"),
    *("it_IT", "nl_NL", "pl_PL", "pt_BR", "sv_SE", "tr_TR", "fi_FI", "cs_CZ", "id_ID"),
)
TITLES: Final = [
    "Mr",
    "Mr.",
    "Mrs",
    "Mrs.",
    "Ms",
    "Ms.",
    "Miss",
    "Dr",
    "Dr.",
    "Prof.",
    "Professor",
    "Sir",
    "Madam",
    "Rev.",
    "Capt.",
    "Herr",
    "Frau",
    "Monsieur",
    "Mme",
    "Señor",
    "Señora",
    "Sra.",
    "Sr.",
    "Signora",
    "Sig.",
    "Mevrouw",
    "Dhr.",
    "Pani",
    "Pan",
    "Father",
    "Sister",
    "Judge",
    "Lord",
    "Lady",
]
GROUPS: Final = [
    "Dutch",
    "Polish",
    "Brazilian",
    "Turkish",
    "Kenyan",
    "Vietnamese",
    "Catholic",
    "Muslim",
    "Jewish",
    "Buddhist",
    "Hindu",
    "Sikh",
    "Lutheran",
    "Republican",
    "Democrat",
    "Labour",
    "Social Democrats",
    "Greens",
    "Conservatives",
    "Ukrainian",
    "Greek",
    "Irish",
    "Mexican",
    "Chilean",
    "Nigerian",
    "Filipino",
    "Korean",
    "Norwegian",
    "Swiss",
    "Austrians",
    "Canadians",
    "Methodists",
    "Quaker",
    "Orthodox",
    "Baptist",
    "Egyptian",
    "Syrian",
    "Iranian",
    "Peruvian",
    "Romanian",
    "Hungarian",
    "Danish",
    "Belgian",
    "Moroccan",
    "Protestant",
    "Mormon",
    "Communists",
    "Liberals",
    "Catalan",
    "Basque",
    "Scottish",
    "Welsh",
    "Tamil",
    "Kurdish",
    "Samoan",
]
MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]


class Inventor:
    """Values by label; deterministic to ``rng``."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._fakers: dict[str, Any] = {}
        self._makers: dict[str, Callable[[], str]] = {
            "AGE": lambda: str(rng.randint(1, 96)),
            "CREDIT_CARD": self._card,
            "DATE_TIME": self._date_time,
            "DOMAIN_NAME": self._domain,
            "EMAIL_ADDRESS": self._email,
            "GPE": lambda: rng.choice([self._faker().city, self._faker("en_US").country])(),
            "IBAN_CODE": self._iban,
            "IP_ADDRESS": self._ip,
            "NRP": lambda: rng.choice(GROUPS),
            "ORGANIZATION": lambda: str(self._faker().company()),
            "PERSON": self._person,
            "PHONE_NUMBER": self._phone,
            "STREET_ADDRESS": lambda: str(self._faker().street_address()).split("\n")[0],
            "TITLE": lambda: rng.choice(TITLES),
            "US_DRIVER_LICENSE": self._licence,
            "US_SSN": self._ssn,
            "ZIP_CODE": lambda: str(self._faker().postcode()),
        }

    def value(self, label: str) -> str:
        return self._makers[label]().strip()

    def _faker(self, locale: str | None = None) -> Any:
        name = locale or self._rng.choice(LOCALES)
        if name not in self._fakers:
            self._fakers[name] = Faker(name)
        self._fakers[name].seed_instance(self._rng.getrandbits(48))
        return self._fakers[name]

    def _digits(self, pattern: str) -> str:
        """``pattern`` with a digit for ``#``, a capital for ``?`` and hexadecimal for ``^``."""
        draw = {"#": "0123456789", "?": "ABCDEFGHJKLMNPRSTUVWXYZ", "^": "0123456789abcdef"}
        return "".join(self._rng.choice(draw[c]) if c in draw else c for c in pattern)

    def _person(self) -> str:
        faker = self._faker()
        first, last = str(faker.first_name()), str(faker.last_name())
        forms = [f"{first} {last}"] * 5 + [first, last, f"{first[0]}. {last}", f"{last}, {first}"]
        name = self._rng.choice([*forms, f"{first} {self._digits('?')}. {last}"])
        return name.lower() if self._rng.random() < 0.08 else name

    def _card(self) -> str:
        digits = self._rng.choice(["4", "51", "55", "37", "6011"])
        length = 15 if digits == "37" else 16
        digits += self._digits("#" * (length - 1 - len(digits)))
        digits += str(check_digit(digits))
        if self._rng.random() < 0.3:
            return digits
        gap = self._rng.choice([" ", "-"])
        cuts = [4, 10, 15] if length == 15 else [4, 8, 12, 16]
        return gap.join(digits[a:b] for a, b in zip([0, *cuts], cuts, strict=False))

    def _iban(self) -> str:
        country, body = self._rng.choice(
            [
                ("DE", "#" * 18),
                ("GB", "????" + "#" * 14),
                ("FR", "#" * 23),
                ("ES", "#" * 20),
                ("NL", "????" + "#" * 10),
                ("IT", "?" + "#" * 22),
                ("PL", "#" * 24),
                ("AT", "#" * 16),
                ("BE", "#" * 12),
                ("CH", "#" * 17),
                ("PT", "#" * 21),
            ]
        )
        body = self._digits(body)
        number = "".join(str(int(c, 36)) for c in f"{body}{country}00")
        iban = f"{country}{98 - int(number) % 97:02d}{body}"
        if self._rng.random() < 0.35:
            return iban
        return " ".join(iban[i : i + 4] for i in range(0, len(iban), 4))

    def _ssn(self) -> str:
        area = self._rng.choice([self._rng.randint(1, 665), self._rng.randint(667, 899)])
        parts = f"{area:03d}", f"{self._rng.randint(1, 99):02d}", self._digits("###") + "4"
        return self._rng.choice(["-", "-", "-", " ", ""]).join(parts)

    def _licence(self) -> str:
        forms = ["?#######", "?###-####-####", "#########", "########", "?##-###-###-###"]
        forms += ["??######?", "?#####-#####-#####", "?### #### ####", "### ### ###", "##-###-####"]
        return self._digits(self._rng.choice([*forms, "?############", "?########"]))

    def _phone(self) -> str:
        forms = ["(###) 555-0###", "+1 ### 555 0###", "###-555-0###", "+44 20 7946 0###"]
        forms += ["+49 30 ########", "0## ######", "+33 6 ## ## ## ##", "06 ## ## ## ##"]
        forms += ["+34 6## ### ###", "+91 98### #####", "+48 ### ### ###", "020 7946 0###"]
        forms += [
            "07### ######",
            "+39 3## ### ####",
            "01#/### ## ##",
            "555-0###",
            "+55 11 9####-####",
        ]
        return self._digits(self._rng.choice(forms))

    def _ip(self) -> str:
        if self._rng.random() < 0.3:
            groups = [self._digits("^^^^"[: self._rng.randint(1, 4)]) for _ in range(8)]
            if self._rng.random() < 0.6:
                return f"2001:db8:{groups[0]}::{groups[1]}"
            return ":".join(groups)
        return ".".join(str(self._rng.randint(0, 255)) for _ in range(4))

    def _word(self) -> str:
        names = [self._faker().last_name(), self._faker("en_US").word()]
        word = str(self._rng.choice(names)).lower().replace(" ", "-")
        return "".join(c for c in word if c.isascii() and (c.isalnum() or c == "-")) or "site"

    def _domain(self) -> str:
        ends = [
            "com",
            "net",
            "org",
            "io",
            "co.uk",
            "de",
            "fr",
            "es",
            "nl",
            "it",
            "pl",
            "example",
            "eu",
            "dev",
            "app",
            "shop",
            "health",
        ]
        starts = ["", "", "", "www.", "api.", "shop.", "my-", "login.", "mail."]
        return f"{self._rng.choice(starts)}{self._word()}.{self._rng.choice(ends)}"

    def _email(self) -> str:
        gap = self._rng.choice([".", "_", "", "-"])
        user = self._rng.choice([f"{self._word()}{gap}{self._word()}", self._word()])
        return user + self._rng.choice(["", "", self._digits("##")]) + "@" + self._domain()

    def _date_time(self) -> str:
        rng = self._rng
        day, month, year = rng.randint(1, 28), rng.randint(1, 12), rng.randint(1938, 2031)
        hour, minute = rng.randint(0, 23), rng.choice([0, 5, 10, 15, 20, 30, 40, 45, 55])
        name = MONTHS[month - 1]
        forms = [
            f"{year}-{month:02d}-{day:02d}",
            f"{day:02d}/{month:02d}/{year}",
            f"{month}/{day}/{year % 100:02d}",
            f"{day}.{month}.{year}",
            f"{day} {name} {year}",
            f"{name} {day}, {year}",
            f"{day} {name}",
            f"{name} {day}",
            f"{name[:3]} {day}",
            f"{hour:02d}:{minute:02d}",
            f"{(hour - 1) % 12 + 1}:{minute:02d} {rng.choice(['am', 'pm', 'AM', 'PM'])}",
            f"{(hour - 1) % 12 + 1} {rng.choice(['am', 'pm', 'a.m.', 'p.m.'])}",
            f"{year}-{month:02d}-{day:02d}T{hour:02d}:{minute:02d}:00Z",
            f"{year}-{month:02d}-{day:02d} {hour:02d}:{minute:02d}",
            f"{hour:02d}:{minute:02d}-{(hour + 2) % 24:02d}:{minute:02d}",
            rng.choice(
                ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
            ),
            f"{rng.choice(['Monday', 'Tuesday', 'Friday', 'Sunday'])}, {day} {name}",
            f"{day}th of {name}" if 3 < day < 21 else f"{day} of {name} {year}",
        ]
        return rng.choice(forms)


def check_digit(digits: str) -> int:
    """The Luhn digit that completes ``digits`` (ISO/IEC 7812)."""
    total = 0
    for i, c in enumerate(reversed(digits)):
        value = int(c) * (2 if i % 2 == 0 else 1)
        total += value - 9 if value > 9 else value
    return -total % 10
