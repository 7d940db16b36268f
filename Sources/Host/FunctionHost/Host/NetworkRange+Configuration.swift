import EventLoop

extension NetworkRange {
    /// The ranges that a setting names.
    ///
    /// - Throws: `HostStartError` where one is none.
    static func list(_ texts: [String], of setting: String) throws(HostStartError) -> [NetworkRange] {
        var ranges: [NetworkRange] = []
        for text in texts {
            guard let range = NetworkRange(text) else {
                throw HostStartError(
                    "\(setting): \(text) is no address or range of addresses; expected one such as 192.0.2.1, 10.0.0.0/8 or fd00::/8")
            }
            ranges.append(range)
        }
        return ranges
    }
}
