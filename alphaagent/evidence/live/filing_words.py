"""What a filing's form and item numbers say, in plain words.

The numbers are those of the SEC's forms 8-K; the words are ours, short, and without a judgement: what a filing says stands in the filing.
"""

from collections.abc import Sequence

ITEMS = {
    "1.01": "a material agreement",
    "1.02": "the end of a material agreement",
    "1.03": "bankruptcy or receivership",
    "1.04": "mine safety",
    "1.05": "a cybersecurity incident",
    "2.01": "an acquisition or sale completed",
    "2.02": "results of a period",
    "2.03": "a new debt",
    "2.04": "a debt that falls due early",
    "2.05": "costs of leaving or shrinking a business",
    "2.06": "an impairment",
    "3.01": "a listing in question",
    "3.02": "shares sold without registration",
    "3.03": "changed rights of holders",
    "4.01": "a new auditor",
    "4.02": "earlier statements no longer to be relied on",
    "5.01": "a change of control",
    "5.02": "changes of directors or officers",
    "5.03": "changed articles or fiscal year",
    "5.04": "a pause in the employees' plan",
    "5.05": "the code of ethics",
    "5.06": "the end of being a shell company",
    "5.07": "votes of shareholders",
    "5.08": "nominations of shareholders",
    "7.01": "information for all under Regulation FD",
    "8.01": "other events",
}
EXHIBITS = "9.01"
"""Goes with nearly every filing and says nothing by itself."""
FORMS = {"8-K": "current report", "6-K": "report of a foreign company", "10-Q": "quarterly report", "10-K": "annual report", "20-F": "annual report"}


def filing_title(company: str, form: str, items: Sequence[str]) -> str:
    """`Acme Inc. files 8-K (current report): results of a period; other events`."""
    base, _, amended = form.partition("/")
    kind = f"{'amended ' if amended else ''}{FORMS[base]}" if base in FORMS else ("amended" if amended else "")
    told = "; ".join(ITEMS.get(item, f"item {item}") for item in items if item != EXHIBITS)
    return f"{company} files {form}{f' ({kind})' if kind else ''}{f': {told}' if told else ''}"
