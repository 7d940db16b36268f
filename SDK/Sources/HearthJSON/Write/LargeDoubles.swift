/// How whole doubles of 2^53 and more are written, up to which a double holds every whole number.
public enum LargeDoubles: Sendable, Hashable {
    /// As `JSON.stringify` does: digits only below 10^21. A reader that keeps whole numbers apart takes them for integers.
    case digits
    /// With an exponent, `1e+17`: what was a double is read as one.
    case exponent
}
