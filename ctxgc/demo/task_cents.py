"""The first task of the script: invoices that differ from their orders by a cent.

Rule: the test output is what pytest prints for the files as they are at that moment.
"""

from __future__ import annotations

from ctxgc.demo import outputs
from ctxgc.demo.script import Step
from ctxgc.demo.use import bash, edit_file, grep, http_get, list_files, read_file

ALL = ("tests/test_handlers.py", "tests/test_pricing.py", "tests/test_repository.py")
PRICING = "parcelhub/pricing.py"
TEST_PRICING = ("tests/test_pricing.py",)

TASK = """Accounting tells us that since the last release some invoices differ from their order's total by one cent. Two
or three a day, always orders with a volume discount. Three tests in tests/test_pricing.py fail on main, which is
probably the same thing.

Please find out why and fix it. What customers are charged is the sum of the lines as they are printed on the invoice,
so the order has to agree with the invoice and not the other way round. Don't change the tests."""

DONE = """Fixed. There were two faults, and both can move a total by a cent:

1. `line_total` and the invoice's tax used `round()`, which rounds a Decimal half to even. 4.465 became 4.46. They now
   use `to_cents`, which rounds half up like everything else.
2. `totals` added up unrounded lines, while the invoice adds up the printed ones. It now adds the same rounded lines, so
   order and invoice agree by construction; the discount is what is left between them.

All tests pass, and no test was changed. Invoices that were already issued keep their totals; stored data is as it was.
"""

_AGREE_HEAD = """price = '{price}'

    @pytest.mark.parametrize("price", ["0.47", "0.48", "1.13", "2.29"])
    def test_invoice_and_order_agree_to_the_cent(price):
        order = make_order(
            make_line(unit_price=price, quantity=10),
            make_line(unit_price="1.99", quantity=55),
            make_line(unit_price="12.49", quantity=1),
        )
        invoice = invoices.draft(order, make_address(country="DE"), TODAY)
>       assert invoice.gross == pricing.totals(order, "DE").gross
E       AssertionError: assert Decimal('{invoice}') == Decimal('{order}')
E        +  where Decimal('{invoice}') = Draft(order_id=1, issued=datetime.date(2025, 3, 11), due=datetime.date(2025, \
3, 25), lines=(InvoiceLine(sku='TEA-100',...price=Decimal('12.49'), total=Decimal('12.49'))), net=Decimal('{net}'), \
tax=Decimal('{tax}'), gross=Decimal('{invoice}')).gross
E        +  and   Decimal('{order}') = Totals(net=Decimal('{listed}'), discount=Decimal('{discount}'), \
tax=Decimal('{tax}'), gross=Decimal('{order}')).gross

tests/test_pricing.py:66: AssertionError
"""
_LINE_TOTAL = """    def test_line_total_rounds_half_up():
        # 0.47 * 10 less 5 % is 4.465
>       assert pricing.line_total(make_line(unit_price="0.47", quantity=10)) == Decimal("4.47")
E       AssertionError: assert Decimal('4.46') == Decimal('4.47')
E        +  where Decimal('4.46') = <function line_total at 0x7f39f29428e0>(OrderLine(sku='TEA-100', text='Assam, \
100 g', quantity=10, unit_price=Decimal('0.47')))

tests/test_pricing.py:41: AssertionError
"""
_AGREE = "test_invoice_and_order_agree_to_the_cent"

_OLD_TOTALS = """    discount = sum((line_discount(line) for line in order.lines), Decimal(0))
    tax = (net - discount) * tax_rate(country)
    return Totals(
        net=to_cents(net),
        discount=round(discount, 2),
        tax=to_cents(tax),
        gross=to_cents(net - discount + tax),
    )
"""
_NEW_TOTALS = """    charged = sum((line_total(line) for line in order.lines), Decimal(0))
    tax = to_cents(charged * tax_rate(country))
    return Totals(
        net=to_cents(net),
        discount=to_cents(net) - charged,
        tax=tax,
        gross=charged + tax,
    )
"""
_TRY = """python - <<'EOF'
from decimal import Decimal
for text in ("4.465", "4.475", "22.3706"):
    print(text, round(Decimal(text), 2))
EOF"""
_DIFF = """ parcelhub/invoices.py |  2 +-
 parcelhub/pricing.py  | 12 ++++++------
 2 files changed, 7 insertions(+), 7 deletions(-)
"""


def steps() -> tuple[Step, ...]:
    """The turns of this task; after the last one the user has the next."""
    return (*_look(), *_mend(), *_check())


def _look() -> tuple[Step, ...]:
    failed = {"test_line_total_rounds_half_up": _LINE_TOTAL, **_first_failures()}
    return (
        Step("I'll start with an overview of the repository.", (list_files(),)),
        Step("", (read_file("README.md"), read_file("pyproject.toml"))),
        Step("Prices are made in one module. Let me read it.", (read_file(PRICING),)),
        Step("Now the tests, as they are.", (bash("pytest", outputs.pytest_run(ALL, "4.12", failed)),)),
        Step("", (read_file("tests/test_pricing.py"),)),
        Step("All three are about rounding. Where is anything rounded?", (grep(r"round\(|to_cents|quantize"),)),
        Step("", (read_file("parcelhub/invoices.py"), read_file("parcelhub/models.py"))),
        Step(
            "`round` on a Decimal rounds half to even. Let me make sure.",
            (bash(_TRY, "4.465 4.46\n4.475 4.48\n22.3706 22.37\n"),),
        ),
        Step("What do real invoices look like?", (http_get("/api/invoices?limit=40", outputs.invoices(40)),)),
        Step("Who calls these functions?", (grep(r"line_total|line_net|totals\(|invoices\.draft"),)),
        Step("No handler computes prices by itself, I think; I'll check.", (read_file("parcelhub/handlers.py"),)),
    )


def _mend() -> tuple[Step, ...]:
    half_even = "    return round(line_net(line) - line_discount(line), 2)\n"
    half_up = "    return to_cents(line_net(line) - line_discount(line))\n"
    run = outputs.pytest_run(TEST_PRICING, "0.94", {f"{_AGREE}[0.48]": _agree("0.48")})
    tax = "tax = round(net * pricing.tax_rate(address.country), 2)"
    half_up_tax = "tax = pricing.to_cents(net * pricing.tax_rate(address.country))"
    return (
        Step("Back to the line totals before I change them.", (read_file(PRICING),)),
        Step("First fault: `line_total` rounds half to even.", (edit_file(PRICING, half_even, half_up),)),
        Step("", (bash("pytest tests/test_pricing.py", run),)),
        Step(
            "One is left: the order adds up unrounded lines and the invoice rounded ones. The order has to follow.",
            (edit_file(PRICING, _OLD_TOTALS, _NEW_TOTALS),),
        ),
        Step(
            "The invoice's tax is rounded half to even, too.",
            (edit_file("parcelhub/invoices.py", tax, half_up_tax),),
        ),
    )


def _check() -> tuple[Step, ...]:
    return (
        Step("", (bash("pytest tests/test_pricing.py", outputs.pytest_run(TEST_PRICING, "0.91")),)),
        Step("Let me read the result as a whole.", (read_file(PRICING), read_file("parcelhub/invoices.py"))),
        Step("Now everything.", (bash("pytest -v", outputs.pytest_run(ALL, "4.07", verbose=True)),)),
        Step("", (bash("ruff check . && mypy parcelhub", _CLEAN), bash("git diff --stat", _DIFF))),
        Step(DONE, user=_NEXT),
    )


_CLEAN = "All checks passed!\nSuccess: no issues found in 14 source files\n"
_NEXT = """Thanks, that explains it. Next: since this morning the warehouse sees an error page when it lists the parcels
that wait for pick-up. It is somewhere in logs/app.log of the staging server. Please find it, fix it and add a test."""


def _first_failures() -> dict[str, str]:
    return {f"{_AGREE}[{price}]": _agree(price) for price in ("0.47", "0.48")}


def _agree(price: str) -> str:
    figures = {
        "0.47": ("139.99", "140.00", "117.64", "22.35", "126.64", "8.99"),
        "0.48": ("140.11", "140.12", "117.74", "22.37", "126.74", "9.00"),
    }
    invoice, order, net, tax, listed, discount = figures[price]
    return _AGREE_HEAD.format(
        price=price, invoice=invoice, order=order, net=net, tax=tax, listed=listed, discount=discount
    )
