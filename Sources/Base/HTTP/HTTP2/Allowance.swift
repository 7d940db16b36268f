/// Bounds how often a client may do something that costs the server more than the client: so many times at once, and so many more each second.
struct Allowance {
    private var left: Int
    private let most: Int
    private let perSecond: Int
    private var grantedAt: UInt64

    init(_ most: Int, perSecond: Int, now: UInt64) {
        left = most
        self.most = most
        self.perSecond = max(1, perSecond)
        grantedAt = now
    }

    /// Uses up `count` if so many are left.
    ///
    /// - Parameter now: the loop's clock in milliseconds.
    /// - Returns: whether they were.
    mutating func spend(_ count: Int, _ now: UInt64) -> Bool {
        if left < count { grant(now) }
        guard left >= count else { return false }
        left -= count
        return true
    }

    private mutating func grant(_ now: UInt64) {
        let seconds = Int(clamping: (now - min(now, grantedAt)) / 1000)
        guard seconds > 0 else { return }
        grantedAt = now
        earn(min(seconds, most) * perSecond)
    }

    /// Grants `count` more.
    mutating func earn(_ count: Int) { left = min(most, left + count) }
}
