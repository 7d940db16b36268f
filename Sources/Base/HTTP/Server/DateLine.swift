import Glibc

/// The `Date` line of answers, made anew once a second.
struct DateLine: ~Copyable {
    /// `Date: Sun, 06 Nov 1994 08:49:37 GMT` and CR LF.
    static let count = 37

    private let text: UnsafeMutablePointer<UInt8>
    private var expiresAtMilliseconds: UInt64 = 0

    init() { text = .allocate(capacity: Self.count) }

    deinit { text.deallocate() }

    /// The line for now, where `nowMilliseconds` is the loop's time, which only serves to notice that a second has passed.
    @inline(__always)
    mutating func current(nowMilliseconds: UInt64) -> UnsafePointer<UInt8> {
        if nowMilliseconds >= expiresAtMilliseconds { rebuild(nowMilliseconds) }
        return UnsafePointer(text)
    }

    private mutating func rebuild(_ nowMilliseconds: UInt64) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        expiresAtMilliseconds = nowMilliseconds + 1000 - UInt64(now.tv_nsec / 1_000_000)
        write(now.tv_sec)
    }

    /// Writes the line for `seconds` since 1970 (RFC 9110 section 5.6.7).
    mutating func write(_ seconds: Int) {
        var seconds = seconds
        var parts = tm()
        gmtime_r(&seconds, &parts)
        let days: StaticString = "SunMonTueWedThuFriSat"
        let months: StaticString = "JanFebMarAprMayJunJulAugSepOctNovDec"
        put("Date: ", at: 0)
        memcpy(text + 6, days.utf8Start + 3 * Int(parts.tm_wday), 3)
        put(", ", at: 9)
        putTwoDigits(Int(parts.tm_mday), at: 11)
        put(" ", at: 13)
        memcpy(text + 14, months.utf8Start + 3 * Int(parts.tm_mon), 3)
        put(" ", at: 17)
        let year = Int(parts.tm_year) + 1900
        putTwoDigits(year / 100, at: 18)
        putTwoDigits(year % 100, at: 20)
        put(" ", at: 22)
        putTwoDigits(Int(parts.tm_hour), at: 23)
        put(":", at: 25)
        putTwoDigits(Int(parts.tm_min), at: 26)
        put(":", at: 28)
        putTwoDigits(Int(parts.tm_sec), at: 29)
        put(" GMT\r\n", at: 31)
    }

    private func put(_ piece: StaticString, at offset: Int) { memcpy(text + offset, piece.utf8Start, piece.utf8CodeUnitCount) }

    private func putTwoDigits(_ value: Int, at offset: Int) {
        text[offset] = UInt8(48 + value / 10 % 10)
        text[offset + 1] = UInt8(48 + value % 10)
    }
}
