/// Suggests a known word for a misspelt one.
public enum Spelling {
    private static let lettersMax = 64

    /// A question such as `did you mean echo?`; nil if no name is near.
    public static func question(for word: String, among names: [String]) -> String? {
        nearest(to: word, among: names).map { "did you mean \($0)?" }
    }

    /// The name that is nearest to a word, if few enough letters differ, regardless of their case; else the only name that begins with
    /// the word.
    public static func nearest(to word: String, among names: [String]) -> String? {
        let word = Array(word.lowercased().unicodeScalars)
        guard word.count <= lettersMax else { return nil }
        var best: (name: String, distance: Int)?
        for name in names {
            let distance = distance(word, Array(name.lowercased().unicodeScalars))
            if distance < best?.distance ?? .max { best = (name, distance) }
        }
        if let best, best.distance <= max(1, word.count / 3) { return best.name }
        let longer = names.filter { word.count >= 3 && $0.lowercased().unicodeScalars.starts(with: word) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// The number of letters to insert, remove, replace, or exchange with their neighbour.
    private static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                let isSame = left[row] == right[column]
                var cost = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                let isSwap = row > 0 && column > 0 && left[row] == right[column - 1] && left[row - 1] == right[column]
                if isSwap { cost = min(cost, beforeLast[column - 1] + 1) }
                current.append(cost)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
