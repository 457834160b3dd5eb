package source

// Letters with marks are written in two ways: as one character (NFC, as most keyboards give them), and
// as a letter and the marks behind it (NFD, as names of files on a Mac may be).

// Composed returns s with each letter and the marks behind it as one character, where Unicode has
// one: then texts that differ in that alone are equal. Marks are taken in their order, and one that
// joins no letter stays and ends the letter. Invalid UTF-8 and all else stay as they are.
func Composed(s string) string {
	if !decomposed(s) {
		return s
	}
	all := make([]rune, 0, len(s))
	for _, c := range s {
		if n := len(all); n > 0 {
			if one, ok := composedOf(all[n-1], c); ok {
				all[n-1] = one
				continue
			}
		}
		all = append(all, c)
	}
	return string(all)
}

// decomposed reports whether s is sound and may hold a mark that joins the letter before it.
func decomposed(s string) bool {
	found := false
	for _, c := range s {
		if c == '\ufffd' {
			return false
		}
		found = found || joins(c)
	}
	return found
}

// Hangul's syllables are in the order of their parts (The Unicode Standard, 3.12).
const (
	leads, vowels, tails = 0x1100, 0x1161, 0x11a7
	syllables            = 0xac00
	leadCount            = 19
	vowelCount           = 21
	tailCount            = 28 // with that of none, the first
)

// joins reports whether c may be the second part of a character.
func joins(c rune) bool {
	if c < 0x300 {
		return false
	}
	_, ok := compositions[c]
	return ok || c >= vowels && c < vowels+vowelCount || c > tails && c < tails+tailCount
}

// composedOf returns the character of the parts a and b, and false where there is none.
func composedOf(a, b rune) (rune, bool) {
	if b < 0x300 {
		return 0, false
	}
	if a >= leads && a < leads+leadCount && b >= vowels && b < vowels+vowelCount {
		return syllables + ((a-leads)*vowelCount+b-vowels)*tailCount, true
	}
	if a >= syllables && a < syllables+leadCount*vowelCount*tailCount && (a-syllables)%tailCount == 0 && b > tails && b < tails+tailCount {
		return a + b - tails, true
	}
	first, whole := rune(0), false
	for _, c := range compositions[b] {
		if whole && first == a {
			return c, true
		}
		first, whole = c, !whole
	}
	return 0, false
}

// compositions lists, for each mark, letters and each behind it the character of the letter with the
// mark: the canonical decompositions of Unicode 14.0.0 (UnicodeData.txt) that its composition does
// not exclude.
var compositions = map[rune]string{
	'\u0300':     "AÀEÈIÌOÒUÙaàeèiìoòuùÜǛüǜNǸnǹЕЀИЍеѐиѝĒḔēḕŌṐōṑWẀwẁÂẦâầĂẰăằÊỀêềÔỒôồƠỜơờƯỪưừYỲyỳἀἂἁἃἈἊἉἋἐἒἑἓἘἚἙἛἠἢἡἣἨἪἩἫἰἲἱἳἸἺἹἻὀὂὁὃὈὊὉὋὐὒὑὓὙὛὠὢὡὣὨὪὩὫαὰεὲηὴιὶοὸυὺωὼΑᾺΕῈΗῊ\u1fbf\u1fcdϊῒΙῚ\u1ffe\u1fddϋῢΥῪ\u00a8\u1fedΟῸΩῺ",
	'\u0301':     "AÁEÉIÍOÓUÚYÝaáeéiíoóuúyýCĆcćLĹlĺNŃnńRŔrŕSŚsśZŹzźÜǗüǘGǴgǵÅǺåǻÆǼæǽØǾøǿ\u00a8\u0385ΑΆΕΈΗΉΙΊΟΌΥΎΩΏϊΐαάεέηήιίϋΰοόυύωώϒϓГЃКЌгѓкќÇḈçḉĒḖēḗÏḮïḯKḰkḱMḾmḿÕṌõṍŌṒōṓPṔpṕŨṸũṹWẂwẃÂẤâấĂẮăắÊẾêếÔỐôốƠỚơớƯỨưứἀἄἁἅἈἌἉἍἐἔἑἕἘἜἙἝἠἤἡἥἨἬἩἭἰἴἱἵἸἼἹἽὀὄὁὅὈὌὉὍὐὔὑὕὙὝὠὤὡὥὨὬὩὭ\u1fbf\u1fce\u1ffe\u1fde",
	'\u0302':     "AÂEÊIÎOÔUÛaâeêiîoôuûCĈcĉGĜgĝHĤhĥJĴjĵSŜsŝWŴwŵYŶyŷZẐzẑẠẬạậẸỆẹệỌỘọộ",
	'\u0303':     "AÃNÑOÕaãnñoõIĨiĩUŨuũVṼvṽÂẪâẫĂẴăẵEẼeẽÊỄêễÔỖôỗƠỠơỡƯỮưữYỸyỹ",
	'\u0304':     "AĀaāEĒeēIĪiīOŌoōUŪuūÜǕüǖÄǞäǟȦǠȧǡÆǢæǣǪǬǫǭÖȪöȫÕȬõȭȮȰȯȱYȲyȳИӢиӣУӮуӯGḠgḡḶḸḷḹṚṜṛṝαᾱΑᾹιῑΙῙυῡΥῩ",
	'\u0306':     "AĂaăEĔeĕGĞgğIĬiĭOŎoŏUŬuŭУЎИЙийуўЖӁжӂАӐаӑЕӖеӗȨḜȩḝẠẶạặαᾰΑᾸιῐΙῘυῠΥῨ",
	'\u0307':     "CĊcċEĖeėGĠgġIİZŻzżAȦaȧOȮoȯBḂbḃDḊdḋFḞfḟHḢhḣMṀmṁNṄnṅPṖpṗRṘrṙSṠsṡŚṤśṥŠṦšṧṢṨṣṩTṪtṫWẆwẇXẊxẋYẎyẏſẛ",
	'\u0308':     "AÄEËIÏOÖUÜaäeëiïoöuüyÿYŸΙΪΥΫιϊυϋϒϔЕЁІЇеёіїАӒаӓӘӚәӛЖӜжӝЗӞзӟИӤиӥОӦоӧӨӪөӫЭӬэӭУӰуӱЧӴчӵЫӸыӹHḦhḧÕṎõṏŪṺūṻWẄwẅXẌxẍtẗ",
	'\u0309':     "AẢaảÂẨâẩĂẲăẳEẺeẻÊỂêểIỈiỉOỎoỏÔỔôổƠỞơởUỦuủƯỬưửYỶyỷ",
	'\u030a':     "AÅaåUŮuůwẘyẙ",
	'\u030b':     "OŐoőUŰuűУӲуӳ",
	'\u030c':     "CČcčDĎdďEĚeěLĽlľNŇnňRŘrřSŠsšTŤtťZŽzžAǍaǎIǏiǐOǑoǒUǓuǔÜǙüǚGǦgǧKǨkǩƷǮʒǯjǰHȞhȟ",
	'\u030f':     "AȀaȁEȄeȅIȈiȉOȌoȍRȐrȑUȔuȕѴѶѵѷ",
	'\u0311':     "AȂaȃEȆeȇIȊiȋOȎoȏRȒrȓUȖuȗ",
	'\u0313':     "αἀΑἈεἐΕἘηἠΗἨιἰΙἸοὀΟὈυὐωὠΩὨρῤ",
	'\u0314':     "αἁΑἉεἑΕἙηἡΗἩιἱΙἹοὁΟὉυὑΥὙωὡΩὩρῥΡῬ",
	'\u031b':     "OƠoơUƯuư",
	'\u0323':     "BḄbḅDḌdḍHḤhḥKḲkḳLḶlḷMṂmṃNṆnṇRṚrṛSṢsṣTṬtṭVṾvṿWẈwẉZẒzẓAẠaạEẸeẹIỊiịOỌoọƠỢơợUỤuụƯỰưựYỴyỵ",
	'\u0324':     "UṲuṳ",
	'\u0325':     "AḀaḁ",
	'\u0326':     "SȘsșTȚtț",
	'\u0327':     "CÇcçGĢgģKĶkķLĻlļNŅnņRŖrŗSŞsşTŢtţEȨeȩDḐdḑHḨhḩ",
	'\u0328':     "AĄaąEĘeęIĮiįUŲuųOǪoǫ",
	'\u032d':     "DḒdḓEḘeḙLḼlḽNṊnṋTṰtṱUṶuṷ",
	'\u032e':     "HḪhḫ",
	'\u0330':     "EḚeḛIḬiḭUṴuṵ",
	'\u0331':     "BḆbḇDḎdḏKḴkḵLḺlḻNṈnṉRṞrṟTṮtṯZẔzẕhẖ",
	'\u0338':     "\u2190\u219a\u2192\u219b\u2194\u21ae\u21d0\u21cd\u21d4\u21ce\u21d2\u21cf\u2203\u2204\u2208\u2209\u220b\u220c\u2223\u2224\u2225\u2226\u223c\u2241\u2243\u2244\u2245\u2247\u2248\u2249=\u2260\u2261\u2262\u224d\u226d<\u226e>\u226f\u2264\u2270\u2265\u2271\u2272\u2274\u2273\u2275\u2276\u2278\u2277\u2279\u227a\u2280\u227b\u2281\u2282\u2284\u2283\u2285\u2286\u2288\u2287\u2289\u22a2\u22ac\u22a8\u22ad\u22a9\u22ae\u22ab\u22af\u227c\u22e0\u227d\u22e1\u2291\u22e2\u2292\u22e3\u22b2\u22ea\u22b3\u22eb\u22b4\u22ec\u22b5\u22ed",
	'\u0342':     "ἀἆἁἇἈἎἉἏἠἦἡἧἨἮἩἯἰἶἱἷἸἾἹἿὐὖὑὗὙὟὠὦὡὧὨὮὩὯαᾶ\u00a8\u1fc1ηῆ\u1fbf\u1fcfιῖϊῗ\u1ffe\u1fdfυῦϋῧωῶ",
	'\u0345':     "ἀᾀἁᾁἂᾂἃᾃἄᾄἅᾅἆᾆἇᾇἈ\u1f88Ἁ\u1f89Ἂ\u1f8aἋ\u1f8bἌ\u1f8cἍ\u1f8dἎ\u1f8eἏ\u1f8fἠᾐἡᾑἢᾒἣᾓἤᾔἥᾕἦᾖἧᾗἨ\u1f98Ἡ\u1f99Ἢ\u1f9aἫ\u1f9bἬ\u1f9cἭ\u1f9dἮ\u1f9eἯ\u1f9fὠᾠὡᾡὢᾢὣᾣὤᾤὥᾥὦᾦὧᾧὨ\u1fa8Ὡ\u1fa9Ὢ\u1faaὫ\u1fabὬ\u1facὭ\u1fadὮ\u1faeὯ\u1fafὰᾲαᾳάᾴᾶᾷΑ\u1fbcὴῂηῃήῄῆῇΗ\u1fccὼῲωῳώῴῶῷΩ\u1ffc",
	'\u0653':     "\u0627\u0622",
	'\u0654':     "\u0627\u0623\u0648\u0624\u064a\u0626\u06d5\u06c0\u06c1\u06c2\u06d2\u06d3",
	'\u0655':     "\u0627\u0625",
	'\u093c':     "नऩरऱळऴ",
	'\u09be':     "\u09c7\u09cb",
	'\u09d7':     "\u09c7\u09cc",
	'\u0b3e':     "\u0b47\u0b4b",
	'\u0b56':     "\u0b47\u0b48",
	'\u0b57':     "\u0b47\u0b4c",
	'\u0bbe':     "\u0bc6\u0bca\u0bc7\u0bcb",
	'\u0bd7':     "ஒஔ\u0bc6\u0bcc",
	'\u0c56':     "\u0c46\u0c48",
	'\u0cc2':     "\u0cc6\u0cca",
	'\u0cd5':     "\u0cbf\u0cc0\u0cc6\u0cc7\u0cca\u0ccb",
	'\u0cd6':     "\u0cc6\u0cc8",
	'\u0d3e':     "\u0d46\u0d4a\u0d47\u0d4b",
	'\u0d57':     "\u0d46\u0d4c",
	'\u0dca':     "\u0dd9\u0dda\u0ddc\u0ddd",
	'\u0dcf':     "\u0dd9\u0ddc",
	'\u0ddf':     "\u0dd9\u0dde",
	'\u102e':     "ဥဦ",
	'\u1b35':     "ᬅᬆᬇᬈᬉᬊᬋᬌᬍᬎᬑᬒ\u1b3a\u1b3b\u1b3c\u1b3d\u1b3e\u1b40\u1b3f\u1b41\u1b42\u1b43",
	'\u3099':     "かがきぎくぐけげこごさざしじすずせぜそぞただちぢつづてでとどはばひびふぶへべほぼうゔゝゞカガキギクグケゲコゴサザシジスズセゼソゾタダチヂツヅテデトドハバヒビフブヘベホボウヴワヷヰヸヱヹヲヺヽヾ",
	'\u309a':     "はぱひぴふぷへぺほぽハパヒピフプヘペホポ",
	'\U000110ba': "\U00011099\U0001109a\U0001109b\U0001109c\U000110a5\U000110ab",
	'\U00011127': "\U00011131\U0001112e\U00011132\U0001112f",
	'\U0001133e': "\U00011347\U0001134b",
	'\U00011357': "\U00011347\U0001134c",
	'\U000114b0': "\U000114b9\U000114bc",
	'\U000114ba': "\U000114b9\U000114bb",
	'\U000114bd': "\U000114b9\U000114be",
	'\U000115af': "\U000115b8\U000115ba\U000115b9\U000115bb",
	'\U00011930': "\U00011935\U00011938",
}
