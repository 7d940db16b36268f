internal import HearthJSON

extension JSONEncoder {
    /// Writes what a callable's client receives. A `Double` beyond 2^53 keeps an exponent, because the host takes digits alone
    /// for an integer and wraps it.
    static let callable = JSONEncoder(largeDoubles: .exponent)
}
