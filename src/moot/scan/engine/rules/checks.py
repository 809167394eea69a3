"""Functions that validate: they accept only harmless values, or resolve what a URL points to."""

from moot.scan.syntax import words

RAISES = "raises"
PYTHON_PROVES = dict.fromkeys(
    words(
        "int float complex uuid.UUID ipaddress.ip_address ipaddress.IPv4Address ipaddress.IPv6Address "
        "ipaddress.ip_network ipaddress.ip_interface decimal.Decimal fractions.Fraction datetime.date.fromisoformat "
        "datetime.datetime.fromisoformat datetime.datetime.strptime bson.ObjectId bson.objectid.ObjectId"
    ),
    RAISES,
)
PYTHON_ADDRESSES = words(
    "socket.gethostbyname socket.getaddrinfo socket.gethostbyname_ex socket.inet_aton dns.resolver.resolve"
)
GO_PROVES = dict.fromkeys(
    words(
        "strconv.Atoi strconv.ParseInt strconv.ParseUint strconv.ParseFloat strconv.ParseBool "
        "github.com/google/uuid.Parse github.com/gofrs/uuid.FromString net/netip.ParseAddr net.ParseCIDR net.ParseMAC "
        "time.Parse time.ParseDuration"
    ),
    "error",
) | {"net.ParseIP": "nothing"}
GO_ADDRESSES = words("net.LookupIP net.LookupHost net.LookupAddr net.ResolveIPAddr net.ResolveTCPAddr net.LookupCNAME")
JAVASCRIPT_ADDRESSES = words(
    "dns.lookup dns.promises.lookup dns/promises.lookup dns.resolve4 dns.resolve6 dns.resolve dns.promises.resolve4 "
    "dns.promises.resolve dns/promises.resolve4 dns/promises.resolve ipaddr.js.parse ipaddr.js.process"
)
