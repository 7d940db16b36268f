/// What somebody may have meant.
public enum Suggestion {
    /// A question such as `did you mean echo?`; nil where nothing is near.
    public static func sentence(for word: String, among names: [String]) -> String? {
        nearest(to: word, among: names).map { "did you mean \($0)?" }
    }

    /// The name that is nearest to a word, where one is near at all.
    public static func nearest(to word: String, among names: [String]) -> String? {
        let word = Array(word.lowercased().unicodeScalars)
        let limit = max(1, word.count / 3)
        let ranked = names.map { (name: $0, distance: distance(word, Array($0.lowercased().unicodeScalars))) }
        if let best = ranked.min(by: { $0.distance < $1.distance }), best.distance <= limit { return best.name }
        // The beginning of one name only is as good.
        let longer = names.filter { word.count >= 3 && $0.lowercased().unicodeScalars.starts(with: word) }
        return longer.count == 1 ? longer[0] : nil
    }

    /// How many letters must be put in, left out, replaced, or exchanged with their neighbour.
    static func distance(_ left: [Unicode.Scalar], _ right: [Unicode.Scalar]) -> Int {
        if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 1...left.count {
            var current = [row]
            for column in 1...right.count {
                let isSame = left[row - 1] == right[column - 1]
                var best = min(last[column] + 1, current[column - 1] + 1, last[column - 1] + (isSame ? 0 : 1))
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    best = min(best, beforeLast[column - 2] + 1)
                }
                current.append(best)
            }
            (beforeLast, last) = (last, current)
        }
        return last[right.count]
    }
}
