#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The order of keys: bytewise, a prefix before longer keys.
enum ByteOrder {
    @inline(__always)
    static func compare(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Int {
        a.withUnsafeBytes { a in
            b.withUnsafeBytes { b in
                let count = min(a.count, b.count)
                if count > 0, let a = a.baseAddress, let b = b.baseAddress {
                    let order = memcmp(a, b, count)
                    if order != 0 { return Int(order) }
                }
                return a.count - b.count
            }
        }
    }

    @inline(__always)
    static func precedes(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool { compare(a, b) < 0 }

    @inline(__always)
    static func precedes(_ a: [UInt8], _ b: [UInt8]) -> Bool { compare(a.span, b.span) < 0 }
}
