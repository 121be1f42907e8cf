"""Words, names and numbers that are everywhere and so point nowhere.

Rule: constants only, in small letters. What stands here introduces nothing and refers to nothing by itself.
"""

from __future__ import annotations

_ENGLISH = """
about above across actually added adding additional after again against agree ahead allow allowed allows almost alone
along already also although always among another answer anyone anything appear appears applied apply approach around
aside assume away back based basically because become becomes been before began begin behind being below best better
between beyond both bottom bring built call called came cannot care carefully case cases cause caused causes certain
change changed changes changing check checked checking checks choose clean clear clearly close closed come comes
coming common compare compared complete completed completely concerning confirm confirmed consider considered
consistent contain contained contains continue continues correct correctly could count couple create created creates
currently deal decide decided deep deeper describe described describes detail details did differ difference different
directly does doing done down during each early easy effect either else empty enough entire entirely especially even
every everything exact exactly example examples except exist existing exists expect expected explain explains
explained extra fact failed failing fails failure false far fast feel few final finally find finding findings finds
fine first fixed fixes fixing follow followed following follows form found four from full fully further gave general
generally get gets getting give given gives giving goes going good great group had half hand happen happened happens
hard has have having hence here high higher hold however idea identify important include included includes including
indeed indicate indicates information inside instead into issue issues item items itself just keep keeping kept kind
know known large larger last later latest lead least leave leaves left less like likely line lines list listed little
long longer look looked looking looks lost low lower made main mainly make makes making many match matched matches
matching matter maybe mean meaning means meant mention mentioned middle might mind minor miss missed missing more most
mostly move moved much multiple must name named names near nearly necessary need needed needs neither never newer next
nice none normal normally note noted nothing notice noticed now number numbers obvious occur occurred occurs often
once only onto open opened order original other others otherwise output over overall own part parts pass passed passes
passing past people perhaps place places plan plus point points possible possibly presence present pretty previous
previously probably problem problems proceed provide provided provides put quick quickly quite rather reach reached
read reading ready real really reason reasons recent recently related relevant remain remaining remains remove removed
repeat replace replaced report reported reports require required requires rest right round rows run running runs safe
said same saw say says second section see seem seems seen sense separate set sets several shall short should show
showed showing shown shows side similar simple simply since single size small smaller some something sometimes soon
sort stand start started starting starts state stated step steps still stop stopped straight straightforward such
suggest suggests summary sure take taken takes taking task tasks tell tells than thank thanks that the their them then
there therefore these they thing things think third this those though thought three through throughout thus time times
together told took total toward towards track tried tries true truly trying turn turned turns twice two type types
under understand understanding unless unlikely until update updated updates updating upon use used useful user users
uses using usual usually various verify verified version very via wait want wanted wants was way ways well went were
what whatever when whenever where whether which while whole whose why will wish with within without wonder work worked
working works worse worth would write writes writing written wrong yes yet you your zero
"""
_COMPUTING = """
access action actions address agent application argument arguments array arrays assert assistant async attempt
attempts attribute authentication available await backend base batch boolean branch browser buffer build builds byte
bytes cache callback char character characters class classes client clients code column columns command commands
commit commits component components config configuration configurations connect connection connections console const
content context control current data database date debug default defaults define defined definition delete deleted
dependencies dependency deploy deployment development dict dictionary directories directory disk docker document
documentation documents domain download email enable enabled endpoint endpoints entries entry enum environment error
errors event events except exception exceptions exec execute executed execution exit export expression failures
feature field fields file filename files filter flag flags float folder format function functions functionality git
github global handle handler handlers handling header headers host html http https image implement implementation
implementations implemented import imported imports index info init initial initialization initialize input inputs
install installed instance instances int integer interface internal javascript job jobs json key keys label length
level library limit limits link linux load loaded loading local location log logged logger logging logic login logs
loop manager markdown max memory merge message messages metadata method methods metric min mode model models module
modules network node nodes null object objects operation operations option options package packages page pages param
parameter parameters parse parsed parser parsing password path paths pattern patterns payload performance permission
pipeline port post postgres postgresql print private process processed processes processing production program project
projects prompt property protocol proxy public pull push pytest python query queries queue raise range record records
reference references refactor regex register release remote repo repository request requests response responses result
results resource resources retry retries return returned returning returns role root route routes row runtime schema
scope script scripts search self send sent sequence server servers service services session sessions setting settings
setup shell source sources spec stack stage static statement status stdout stderr storage store stored stream string
strings struct structure subject suite support supported sync syntax system systems table tables tag tags target
template test tested testing tests text thread threads timeout timeouts timestamp title token tokens tool tools trace
traceback transaction typescript undefined unit unknown url urls utf utils valid validate validated validation value
valueerror values variable variables view warn warning warnings web website window windows worker workers workspace
yaml typeerror keyerror attributeerror indexerror runtimeerror importerror nameerror oserror assertionerror indexof
forEach modulenotfounderror filenotfounderror notimplementederror nonetype stacktrace localhost readme __init__
__main__ __name__ __file__ __future__ utf8 utf_8 utf-8 ascii base64 sha256 sha1 md5 int32 int64 uint8 float32 float64
http2 ipv4 ipv6 x86_64 amd64 arm64 python3 node_modules site-packages package.json readme.md __init__.py __main__.py
requirements.txt pyproject.toml setup.py dockerfile makefile index.html index.js index.ts main.py main.go main.rs
license.md changelog.md 127.0.0.1 0.0.0.0 example.com and/or i.e e.g etc n/a true/false read/write input/output yes/no
client/server application/json text/plain text/html stdout/stderr get/post opensource devops github.com openai mysql
sqlite mongodb redis numpy pandas monday tuesday wednesday thursday friday saturday sunday january february march
april june july august september october november december
"""
COMMON: frozenset[str] = frozenset((_ENGLISH + _COMPUTING).lower().split())

# Status codes, powers of two, ports, durations, and what people type when they want any number.
_NUMBERS = """
101 201 202 204 206 301 302 303 304 307 308 401 403 404 405 406 408 409 410 411 413 414 415 418 422 425 426 429 431
451 501 502 503 504 505 507 511 127 128 255 256 257 511 512 513 1023 1024 1025 2047 2048 4095 4096 8191 8192 16384
32767 32768 65535 65536 131072 262144 524288 1048576 2147483647 4294967296 443 587 993 995 3306 3389 5432 5672 6379
6443 8001 8025 8080 8081 8088 8443 8787 8888 9092 9200 11211 11434 27017 123 321 1234 12345 123456 111 222 333 444 555
666 777 888 999 1111 9999 365 366 1440 3600 86400 604800
"""
COMMON_NUMBERS: frozenset[str] = frozenset(_NUMBERS.split())
