/// Guesses which of the known words a person meant.
enum Spelling {
    /// The nearest known word when few enough letters differ, counting a swap of two neighbours as one.
    static func nearest(to word: String, among known: [String]) -> String? {
        let lower = Array(word.lowercased().unicodeScalars)
        guard lower.count <= 64 else { return nil }
        var best: (word: String, distance: Int)?
        for candidate in known {
            let distance = distance(lower, Array(candidate.lowercased().unicodeScalars))
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        guard let best, best.distance <= max(1, lower.count / 3) else { return nil }
        return best.word
    }

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
