/// What a scan tells of a text while it goes through it, each position a byte offset.
///
/// The one grammar of this room is generic over its listener, so that validating costs no more than validating and the tape of
/// a decoder is written in the same pass. Listeners see a prefix of the events when the text turns out to be wrong.
protocol ScanEvents: ~Copyable {
    /// A member's name between its quotes.
    mutating func key(start: Int, end: Int, hasEscapes: Bool)
    /// A string between its quotes.
    mutating func string(start: Int, end: Int, hasEscapes: Bool)
    mutating func number(start: Int, end: Int, isInteger: Bool)
    mutating func bool(_ value: Bool, start: Int)
    mutating func null(start: Int)
    mutating func open(isObject: Bool, at position: Int)
    /// The closing bracket of the innermost open container is at `position`.
    mutating func close(isObject: Bool, at position: Int)
}
