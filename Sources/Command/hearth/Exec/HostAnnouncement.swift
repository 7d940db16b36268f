import Host
import Glibc
import HearthJSON

/// The message of a host to the process that started it, sent once it serves: its address, and the functions it left out.
struct HostAnnouncement {
    let url: String
    /// Host and port.
    let address: String
    let project: String
    let refusals: [String]

    init(_ summary: HostSummary) {
        url = summary.address.url
        address = summary.address.description
        project = summary.project
        refusals = summary.refusals
    }

    init?(parsing bytes: [UInt8]) {
        guard let json = try? JSONValue(parsing: bytes), let url = json["url"]?.string, let address = json["address"]?.string,
            let project = json["project"]?.string, let refusals = json["refusals"]?.array
        else { return nil }
        self.url = url
        self.address = address
        self.project = project
        self.refusals = refusals.compactMap(\.string)
    }

    /// Writes it to a descriptor and closes that.
    func write(to descriptor: Int32) {
        let json: JSONValue = [
            "url": .string(url), "address": .string(address), "project": .string(project), "refusals": .array(refusals.map { .string($0) }),
        ]
        let bytes = json.serialized()
        _ = Glibc.write(descriptor, bytes, bytes.count)
        close(descriptor)
    }
}
