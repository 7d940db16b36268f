import Files

/// The time zones of the machine, in `/usr/share/zoneinfo` or the folder that `TZDIR` names. Each file is read once. Belongs to one thread.
package final class TimeZones {
    private let folder: String
    private var known: [String: ScheduleTimeZone] = [:]

    package static let standardFolder = "/usr/share/zoneinfo"
    private static let sizeBytesMax = 1 << 16

    package init(folder: String = TimeZones.standardFolder) { self.folder = folder }

    /// The zone of this name, such as `Europe/Berlin`.
    package func zone(named name: String) throws(ScheduleError) -> ScheduleTimeZone {
        if let zone = known[name] { return zone }
        let zone = try read(name)
        known[name] = zone
        return zone
    }

    private func read(_ name: String) throws(ScheduleError) -> ScheduleTimeZone {
        if ["UTC", "Etc/UTC", "GMT", "Etc/GMT"].contains(name) { return .utc }
        guard Self.isName(name) else { throw ScheduleError("\"\(name.prefix(60))\" is no name of a time zone, such as Europe/Berlin") }
        let bytes: [UInt8]
        do throws(FileFailure) {
            bytes = try WholeFile.read("\(folder)/\(name)", sizeBytesMax: Self.sizeBytesMax)
        } catch {
            let advice = error.isMissing ? "this machine has no time zone \(name); check its name, or install tzdata" : "\(folder)/\(name) \(error)"
            throw ScheduleError(advice)
        }
        guard let zone = TimeZoneFile(bytes.span).zone(named: name) else { throw ScheduleError("\(folder)/\(name) is no time zone file") }
        return zone
    }

    /// Names lead nowhere outside of the folder.
    private static func isName(_ name: String) -> Bool {
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        return name.utf8.count <= 64
            && parts.allSatisfy { part in
                guard let first = part.utf8.first, first.isLetter else { return false }
                return part.utf8.allSatisfy { $0.isLetter || $0.isDigit || [UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+")].contains($0) }
            }
    }
}

extension UInt8 {
    var isLetter: Bool { (self | 0x20) >= UInt8(ascii: "a") && (self | 0x20) <= UInt8(ascii: "z") }
    var isDigit: Bool { self >= UInt8(ascii: "0") && self <= UInt8(ascii: "9") }
}
