import HearthBytes
import Rules
import Tree

extension IndexDeclaration {
    /// The declaration with the same name for all wildcards, because their names do not matter for an index.
    var normalized: IndexDeclaration {
        IndexDeclaration(pattern: pattern.map { Self.isWildcard($0) ? Self.wildcard : $0 }, target: target)
    }

    private static let wildcard = "$"

    static func isWildcard(_ name: String) -> Bool { name.utf8.first == UInt8(ascii: "$") }

    /// The path from a child to its value; the root for the child's own value.
    var path: Path {
        switch target {
        case .value: .root
        case .child(let path): path
        }
    }

    /// The stored form: the number of names in the pattern, then the names and the segments of the path, each preceded by its length.
    var record: [UInt8] {
        var bytes: [UInt8] = [UInt8(truncatingIfNeeded: pattern.count)]
        for text in pattern + path.segments {
            let count = text.utf8.count
            bytes += [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
            bytes += text.utf8
        }
        return bytes
    }

    init?(record: Span<UInt8>) {
        guard record.count > 0 else { return nil }
        var texts: [String] = []
        var index = 1
        while index + 2 <= record.count {
            let count = Int(record[index]) | Int(record[index + 1]) << 8
            guard index + 2 + count <= record.count else { return nil }
            texts.append(record.extracting(index + 2..<index + 2 + count).string())
            index += 2 + count
        }
        let depth = Int(record[0])
        guard texts.count >= depth else { return nil }
        self.init(
            pattern: Array(texts[..<depth]), target: texts.count == depth ? .value : .child(Path(Array(texts[depth...]))))
    }
}
