/// The name of a namespace, which is a file's name too: 1 to 63 of `a-z`, `0-9` and `-`, neither first nor last a `-`.
enum NamespaceName {
    static func isValid(_ name: String) -> Bool {
        let bytes = name.utf8
        guard (1...63).contains(bytes.count), bytes.first != UInt8(ascii: "-"), bytes.last != UInt8(ascii: "-") else { return false }
        return bytes.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "-") }
    }
}
