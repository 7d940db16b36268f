/// What a server counts: plain numbers, on its loop only.
public struct HTTPServerFigures: Sendable {
    /// Connections that came, those included that were turned away.
    public internal(set) var connectionsAccepted = 0
    /// Answers that were begun, by the first digit of their status.
    private var answers = InlineArray<10, Int>(repeating: 0)

    /// Nothing was done yet.
    public init() {}

    /// Answers whose status begins with this digit.
    public func answers(ofClass digit: Int) -> Int { answers[digit] }

    @inline(__always)
    mutating func count(_ status: HTTPStatus) { answers[min(9, status.rawValue / 100)] &+= 1 }

    /// Counts a head that begins with `HTTP/1.1 200`.
    @inline(__always)
    mutating func count(prebuiltHead: StaticString) { answers[Int(prebuiltHead.utf8Start[9] &- 0x30) % 10] &+= 1 }
}
