"""The words by which items of a feed are told apart: which names are also words, what stands around a name, what is no article.

They stand here and not in config/lexicon.yaml because they decide what becomes evidence at all, before anything is read for its tone.
"""


def _listed(text: str) -> frozenset[str]:
    return frozenset(text.split())


ORDINARY_WORDS = _listed(
    """affirm alphabet ally amazon american apple avis ball block box carnival carrier caterpillar charter chase coach coherent comfort crown delta
    diamond dominion dow eagle elastic express first ford fox frontier gap general guess host intuitive key lemonade match meta monster oracle paramount
    progressive public realty root ross shell snap southern southwest sprouts square target toast travelers united unity upstart visa wolf zoom"""
)
"""Company names that are also words, or many people's surname."""
WORD_SYMBOLS = _listed(
    """ALL AM AN APP ARE AREA ARM BALL BE BEST BIG BILL BOX BRO CAN CAR CARE CASH CAT CHEF COST DAY DOC EAR EAT ELF FAST FIVE FOR FOX FUN GAP GO GOLD
    GOOD HAS HE HOPE IT JACK KEY LAND LAW LIFE LINE LOVE LOW MAIN MAN MET NET NEW NEXT NICE NOW OLD ON ONE OPEN OUT PAY PEN PLAY PLUS POOL POST REAL
    RIDE RUN SAFE SAM SAVE SEE SHOP SO SPOT STEM SUN TEAM TELL TEN TREE TRUE TWO UP VERY WELL WIN WOW YOU"""
)
LEADS_TO_A_NAME = _listed(
    """and or of from at by for with on to vs versus against like than is are was were why how will can should does did after as but if when while in
    into over about behind via including buy buys sell sells sue sues sued upgrade upgrades downgrade downgrades initiates joins join leaves quits backs
    says said tells urges asks orders fines fined owns using giant maker retailer automaker carmaker chipmaker insurer lender owner rival rivals parent
    stock stocks shares lifts boosts loves likes beat beats favors prefers watch inside amid despite because that could would has have"""
)
SHOWS_A_COMPANY = _listed(
    """stock stocks shares share inc corp corporation co company ltd plc ceo cfo coo chief chairman earnings results revenue profit profits sales
    guidance outlook dividend investors shareholders analyst analysts motor platforms q1 q2 q3 q4 stores store workers employees executives"""
)
MODALS = _listed("to will can could should would may might must")
VERBS = _listed("target block match snap guess express charter box root")
"""Names that are also what somebody does: "to target" names no company."""
SOMEBODY_ELSE_AFTER = _listed(
    """hospitality reit bancorp bancshares bank oncology therapeutics pharmaceuticals biosciences minerals mining gold steel wireless realty foundation
    street avenue road county river island materials"""
)
"""Right behind a name that is also a word, it is the name of somebody else."""
NOT_IT_AFTER = {
    "amazon": _listed("rainforest jungle basin river deforestation"),
    "apple": _listed(
        """pie pies juice cider orchard orchards tree trees grower growers farmers harvest crop crops picking sauce cake valley rush bees varieties"""
    ),
    "ford": _listed("coppola administration clinic"),
    "gap": _listed("between in year years up down insurance narrows widens risk fill analysis"),
    "meta": _listed("analysis analyses data physics description search"),
    "shell": _listed("company companies game shock script casing casings"),
    "target": _listed("price prices date dates audience range rate of market weight"),
    "visa": _listed(
        """rule rules fee fees application applications applicant applicants policy ban bans program programme scheme waiver waivers free bulletin holder
        holders overstays interview interviews restrictions restriction backlog requirements requirement processing status extension category crackdown"""
    ),
}
"""Right behind such a name, it is the word and not the company."""
NOT_IT_BEFORE = {
    "apple": _listed("big adam's fiona candy caramel toffee"),
    "ford": _listed("harrison tom gerald betty doug henry"),
    "gap": _listed("pay wage gender skills budget"),
    "visa": _listed("1b h1b student golden tourist work"),
}
PRICE_TARGET = (("price", "target"), ("price", "targets"))
"""What analysts give to companies alone."""
MARKET_WIDE = (
    r"stocks|wall street|dow|s&p|nasdaq composite|futures|ftse|fed|federal reserve|ecb|central banks?|inflation|treasury|treasuries|bond yields|economy|gdp",
    r"recession|tariffs?|interest rates?|rate (?:cut|hike)s?|payrolls|jobs report|stock market|chipmakers|carmakers|automakers|retailers|big tech",
)
PAGE_WORDS = _listed(
    """a and for of on the in to all your inc corp corporation company plc ltd nasdaq nyse stock stocks share shares price prices quote quotes news
    latest headlines headline articles updates today live market markets chart charts history historical data analysis overview profile summary
    financials statistics forecast forecasts estimates earnings dividend dividends date dates call transcripts business finance financial investing
    information page home topic topics tag website official videos video photos rss feed not found"""
)
"""What is left of the title of a quote page or a list besides the names of the company and the publisher."""
INDEX_SEGMENTS = _listed(
    """tag tags topic topics quote quotes symbol symbols category categories section sections author authors search keyword keywords company companies"""
)
INDEX_PATHS = _listed("/news /index.html /index.htm /home /markets /latest /latest-news /stock-market-news")
"""Parts of an address that lead to lists."""
