/// The words that are not allowed on the message board, in lower case.
private let swearWords: Set<String> = [
    "arse", "ass", "asshole", "bastard", "bitch", "bollocks", "bullshit", "crap", "cunt", "damn", "dick", "fuck", "fucked",
    "fucker", "fucking", "motherfucker", "piss", "prick", "shit", "shitty", "slut", "twat", "wanker", "whore",
]

/// `text` with each letter of a swear word turned into a star. Words that merely contain one ("class") stay.
func sanitize(_ text: String) -> String {
    var clean = ""
    var word = ""
    func endWord() {
        clean += swearWords.contains(word.lowercased()) ? String(repeating: "*", count: word.count) : word
        word = ""
    }
    for character in text {
        if character.isLetter {
            word.append(character)
        } else {
            endWord()
            clean.append(character)
        }
    }
    endWord()
    return clean
}
