import CLLHTTP

/// A request's method. Equal to one of the names below, or to another that the parser knows.
public struct HTTPMethod: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
    /// llhttp's number.
    public let rawValue: UInt8

    /// The method of llhttp's number.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The methods that servers commonly tell apart.
    public static let delete = HTTPMethod(HTTP_DELETE)
    public static let get = HTTPMethod(HTTP_GET)
    public static let head = HTTPMethod(HTTP_HEAD)
    public static let post = HTTPMethod(HTTP_POST)
    public static let put = HTTPMethod(HTTP_PUT)
    public static let connect = HTTPMethod(HTTP_CONNECT)
    public static let options = HTTPMethod(HTTP_OPTIONS)
    public static let trace = HTTPMethod(HTTP_TRACE)
    public static let patch = HTTPMethod(HTTP_PATCH)

    init(_ method: llhttp_method) { rawValue = UInt8(truncatingIfNeeded: method.rawValue) }

    /// The name in capitals, for example `POST`.
    public var description: String { String(cString: llhttp_method_name(llhttp_method(UInt32(rawValue)))) }
}
