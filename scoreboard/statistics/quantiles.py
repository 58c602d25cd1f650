"""The two quantiles that the noise report needs, in millionths, tabulated for 1 to 64 degrees of freedom.

Beyond the table: Cornish-Fisher (t) and Wilson-Hilferty (chi-square), good to one part in ten thousand.
"""

from math import sqrt

from ..errors import MalformedInput

MICRO = 10**6
_Z95 = 1.6448536269514722
_Z10 = -1.2815515655446004

_T95_MICRO = (
    *(6313752, 2919986, 2353363, 2131847, 2015048, 1943180, 1894579, 1859548, 1833113, 1812461),
    *(1795885, 1782288, 1770933, 1761310, 1753050, 1745884, 1739607, 1734064, 1729133, 1724718),
    *(1720743, 1717144, 1713872, 1710882, 1708141, 1705618, 1703288, 1701131, 1699127, 1697261),
    *(1695519, 1693889, 1692360, 1690924, 1689572, 1688298, 1687094, 1685954, 1684875, 1683851),
    *(1682878, 1681952, 1681071, 1680230, 1679427, 1678660, 1677927, 1677224, 1676551, 1675905),
    *(1675285, 1674689, 1674116, 1673565, 1673034, 1672522, 1672029, 1671553, 1671093, 1670649),
    *(1670219, 1669804, 1669402, 1669013),
)
_CHI2_10_MICRO = (
    *(15791, 210721, 584374, 1063623, 1610308, 2204131, 2833107, 3489539, 4168159, 4865182),
    *(5577785, 6303796, 7041505, 7789534, 8546756, 9312236, 10085186, 10864936, 11650910, 12442609),
    *(13239598, 14041493, 14847956, 15658684, 16473408, 17291885, 18113896, 18939242, 19767744, 20599235),
    *(21433565, 22270594, 23110197, 23952253, 24796655, 25643300, 26492094, 27342950, 28195785, 29050523),
    *(29907091, 30765423, 31625454, 32487126, 33350381, 34215167, 35081432, 35949131, 36818217, 37688648),
    *(38560384, 39433385, 40307615, 41183039, 42059623, 42937337, 43816148, 44696029, 45576951, 46458888),
    *(47341815, 48225706, 49110539, 49996290),
)


def t95_micro(freedom: int) -> int:
    """The 95 % point of Student's t with ``freedom`` degrees of freedom, times 1e6."""
    _positive(freedom)
    if freedom <= len(_T95_MICRO):
        return _T95_MICRO[freedom - 1]
    first = (_Z95**3 + _Z95) / 4
    second = (5 * _Z95**5 + 16 * _Z95**3 + 3 * _Z95) / 96
    return round(MICRO * (_Z95 + first / freedom + second / freedom**2))


def chi2_10_micro(freedom: int) -> int:
    """The 10 % point of chi-square with ``freedom`` degrees of freedom, times 1e6."""
    _positive(freedom)
    if freedom <= len(_CHI2_10_MICRO):
        return _CHI2_10_MICRO[freedom - 1]
    part = 2 / (9 * freedom)
    root = 1 - part + _Z10 * sqrt(part)
    return round(MICRO * freedom * root**3)


def _positive(freedom: int) -> None:
    if not freedom >= 1:
        raise MalformedInput("freedom", f"{freedom} degrees of freedom; at least 1 is needed")
