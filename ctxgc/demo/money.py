"""The files of the scripted repository that the first task is about: prices, invoices, and their tests.

Rule: the fault is really in here, and the edits of the script really mend it.
"""

from __future__ import annotations

PRICING = '''"""Discounts, tax and totals of an order."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

from parcelhub.models import Order, OrderLine

CENT = Decimal("0.01")

VOLUME_DISCOUNTS = (
    (100, Decimal("0.12")),
    (50, Decimal("0.08")),
    (10, Decimal("0.05")),
)

TAX_RATES = {
    "AT": Decimal("0.20"),
    "DE": Decimal("0.19"),
    "FR": Decimal("0.20"),
    "NL": Decimal("0.21"),
}


@dataclass(frozen=True)
class Totals:
    """What an order comes to, in its currency."""

    net: Decimal
    discount: Decimal
    tax: Decimal
    gross: Decimal


def to_cents(amount: Decimal) -> Decimal:
    """Round half up to whole cents, as the invoices promise."""
    return amount.quantize(CENT, rounding=ROUND_HALF_UP)


def volume_discount(quantity: int) -> Decimal:
    """The rate for a quantity of one product; 0 below the first step."""
    for least, rate in VOLUME_DISCOUNTS:
        if quantity >= least:
            return rate
    return Decimal(0)


def line_net(line: OrderLine) -> Decimal:
    """A line before discount."""
    return line.unit_price * line.quantity


def line_discount(line: OrderLine) -> Decimal:
    """What the volume discount takes off a line."""
    return line_net(line) * volume_discount(line.quantity)


def line_total(line: OrderLine) -> Decimal:
    """A line after discount."""
    return round(line_net(line) - line_discount(line), 2)


def tax_rate(country: str) -> Decimal:
    """The rate for a country; an unknown one is taxed like the shop's own."""
    return TAX_RATES.get(country, TAX_RATES["DE"])


def totals(order: Order, country: str) -> Totals:
    """The totals of an order that is shipped to ``country``."""
    net = sum((line_net(line) for line in order.lines), Decimal(0))
    discount = sum((line_discount(line) for line in order.lines), Decimal(0))
    tax = (net - discount) * tax_rate(country)
    return Totals(
        net=to_cents(net),
        discount=round(discount, 2),
        tax=to_cents(tax),
        gross=to_cents(net - discount + tax),
    )


def shipping_fee(order: Order, country: str) -> Decimal:
    """4.90 in the country, 9.90 elsewhere, nothing from 75.00 on."""
    if totals(order, country).gross >= Decimal("75.00"):
        return Decimal("0.00")
    return Decimal("4.90") if country == "DE" else Decimal("9.90")
'''

INVOICES = '''"""An invoice from an order."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from parcelhub import pricing
from parcelhub.models import Address, Order

DAYS_TO_PAY = 14


@dataclass(frozen=True)
class InvoiceLine:
    """One line as it is printed."""

    sku: str
    text: str
    quantity: int
    unit_price: Decimal
    total: Decimal


@dataclass(frozen=True)
class Draft:
    """An invoice that has no number yet."""

    order_id: int
    issued: date
    due: date
    lines: tuple[InvoiceLine, ...]
    net: Decimal
    tax: Decimal
    gross: Decimal


def draft(order: Order, address: Address, today: date) -> Draft:
    """The invoice for an order. Its gross must equal the order's, to the cent."""
    lines = tuple(
        InvoiceLine(line.sku, line.text, line.quantity, line.unit_price, pricing.line_total(line))
        for line in order.lines
    )
    net = sum((line.total for line in lines), Decimal(0))
    tax = round(net * pricing.tax_rate(address.country), 2)
    return Draft(
        order_id=order.id,
        issued=today,
        due=today + timedelta(days=DAYS_TO_PAY),
        lines=lines,
        net=net,
        tax=tax,
        gross=net + tax,
    )


def is_overdue(invoice: Draft, today: date) -> bool:
    """Whether the customer is to be reminded."""
    return today > invoice.due
'''

TEST_PRICING = '''"""Tests of parcelhub.pricing and parcelhub.invoices."""

from datetime import date
from decimal import Decimal

import pytest

from parcelhub import invoices, pricing
from tests.factories import make_address, make_line, make_order

TODAY = date(2025, 3, 11)


def test_no_discount_below_ten():
    assert pricing.volume_discount(9) == 0


def test_discount_from_ten():
    assert pricing.volume_discount(10) == Decimal("0.05")


def test_discount_from_fifty():
    assert pricing.volume_discount(50) == Decimal("0.08")


def test_discount_from_a_hundred():
    assert pricing.volume_discount(100) == Decimal("0.12")


def test_to_cents_rounds_half_up():
    assert pricing.to_cents(Decimal("2.345")) == Decimal("2.35")
    assert pricing.to_cents(Decimal("2.355")) == Decimal("2.36")


def test_line_total_without_discount():
    assert pricing.line_total(make_line(unit_price="3.15", quantity=3)) == Decimal("9.45")


def test_line_total_rounds_half_up():
    # 0.47 * 10 less 5 % is 4.465
    assert pricing.line_total(make_line(unit_price="0.47", quantity=10)) == Decimal("4.47")


def test_totals_of_one_line():
    totals = pricing.totals(make_order(make_line(unit_price="10.00", quantity=2)), "DE")
    assert (totals.net, totals.tax, totals.gross) == (Decimal("20.00"), Decimal("3.80"), Decimal("23.80"))


def test_tax_of_an_unknown_country_is_the_shops():
    assert pricing.tax_rate("XX") == pricing.tax_rate("DE")


def test_invoice_is_due_in_two_weeks():
    invoice = invoices.draft(make_order(make_line()), make_address(), TODAY)
    assert invoice.due == date(2025, 3, 25)


@pytest.mark.parametrize("price", ["0.47", "0.48", "1.13", "2.29"])
def test_invoice_and_order_agree_to_the_cent(price):
    order = make_order(
        make_line(unit_price=price, quantity=10),
        make_line(unit_price="1.99", quantity=55),
        make_line(unit_price="12.49", quantity=1),
    )
    invoice = invoices.draft(order, make_address(country="DE"), TODAY)
    assert invoice.gross == pricing.totals(order, "DE").gross


def test_shipping_is_free_from_75():
    assert pricing.shipping_fee(make_order(make_line(unit_price="80.00", quantity=1)), "DE") == 0
'''

FACTORIES = '''"""Records for tests."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

from parcelhub.models import Address, Order, OrderLine

NOON = datetime(2025, 3, 11, 12, tzinfo=UTC)


def make_line(*, sku="TEA-100", text="Assam, 100 g", quantity=1, unit_price="4.90"):
    return OrderLine(sku, text, quantity, Decimal(unit_price))


def make_order(*lines, id=1):
    return Order(id, 1, 1, "open", "EUR", "", NOON, lines)


def make_address(*, country="DE"):
    return Address(1, 1, "Hafenweg 4", "20457", "Hamburg", country, True)
'''
