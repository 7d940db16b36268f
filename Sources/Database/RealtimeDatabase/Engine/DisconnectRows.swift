import HearthBytes
import HearthJSON
import Store
import Tree

/// The stored form of a session's onDisconnect operations: a row for the session, and one for each place. An operation reads and writes only
/// the rows of the places that it concerns.
struct DisconnectRows {
    private let session: DisconnectSession
    private let store: any OrderedStore

    /// The row of the session.
    struct Head: Equatable {
        /// The `auth` of the sender; nil for an administrator, `null` for a client that is not signed in.
        var auth: JSONValue?
        /// The number of places, and the bytes of their paths and values.
        var count = 0
        var bytes = 0
    }

    init(_ session: DisconnectSession, _ store: any OrderedStore) {
        self.session = session
        self.store = store
    }

    // MARK: Operations

    /// Adds an operation, or says why it is not accepted; then nothing is changed.
    func apply(_ operation: DisconnectOperation, auth: JSONValue?) throws(StoreError) -> DisconnectPlan.Fault? {
        let before: [(key: [UInt8], value: [UInt8])]
        var plan: DisconnectPlan
        do throws(Failure) {
            before = try rows(concernedBy: operation)
            plan = try DisconnectPlan(places: before.map { row throws(Failure) in try place(row.key, row.value) })
            do throws(DisconnectPlan.Fault) { try plan.apply(operation) } catch { throw .fault(error) }
        } catch {
            switch error {
            case .store(let error): throw error
            case .fault(let fault): return fault
            }
        }
        var after: [[UInt8]: [UInt8]] = [:]
        for place in plan.places { after[key(of: place.path)] = place.value.serialized() }
        var head = try head() ?? Head()
        head.auth = auth
        head.count += after.count - before.count
        head.bytes += after.reduce(0) { $0 + bytes($1.key, $1.value) } - before.reduce(0) { $0 + bytes($1.key, $1.value) }
        guard head.count <= DisconnectOperation.placesMax, head.bytes <= DisconnectOperation.bytesMax else {
            return DisconnectPlan.Fault(message: DisconnectOperation.limitMessage)
        }
        for row in before where after[row.key] == nil { try store.delete(row.key, in: .meta) }
        for (key, value) in after { try store.put(key, value.span, in: .meta) }
        try put(head)
        return nil
    }

    /// Replaces the `auth` for which the operations will be judged.
    ///
    /// - Returns: false if there are no operations; then nothing is changed.
    func setAuth(_ auth: JSONValue?) throws(StoreError) -> Bool {
        guard var head = try head() else { return false }
        head.auth = auth
        try put(head)
        return true
    }

    /// Removes the operations, and returns them; nil if there are none.
    func take() throws(StoreError) -> (plan: DisconnectPlan, auth: JSONValue?)? {
        guard let head = try head() else { return nil }
        var places: [DisconnectPlan.Place] = []
        try store.scan(.meta, from: base, to: base + [0xFF], reversed: false) { key, value in
            if let place = try? place(key.array(), value.array()) { places.append(place) }
            return .next
        }
        try store.delete(MetaKey.disconnect(session), in: .meta)
        try store.deleteRange(base, base + [0xFF], in: .meta, limit: nil)
        return (DisconnectPlan(places: places), head.auth)
    }

    // MARK: Rows

    private enum Failure: Error {
        case store(StoreError)
        case fault(DisconnectPlan.Fault)
    }

    private var base: [UInt8] { MetaKey.disconnectPlaces(session) }

    /// The size of an operation: its path and its value.
    private func bytes(_ key: [UInt8], _ value: [UInt8]) -> Int { key.count - base.count + value.count }

    private func key(of path: Path) -> [UInt8] { base + path.key.bytes }

    private func place(_ key: [UInt8], _ value: [UInt8]) throws(Failure) -> DisconnectPlan.Place {
        guard let value = try? JSONValue(parsing: value.span) else {
            throw .fault(DisconnectPlan.Fault(message: "A stored operation cannot be read"))
        }
        return DisconnectPlan.Place(path: PathKey.path(of: key.span.extracting(droppingFirst: base.count)), value: value)
    }

    /// The rows of places above, at and below those of an operation.
    private func rows(concernedBy operation: DisconnectOperation) throws(Failure) -> [(key: [UInt8], value: [UInt8])] {
        var found: [[UInt8]: [UInt8]] = [:]
        for path in try paths(of: operation) {
            do throws(StoreError) {
                for count in 0..<path.count {
                    let key = key(of: Path(Array(path.segments.prefix(count))))
                    if let value = try store.get(key, in: .meta, { $0.array() }) { found[key] = value }
                }
                let key = key(of: path)
                try store.scan(.meta, from: key, to: key + [0xFF], reversed: false) { key, value in
                    found[key.array()] = value.array()
                    return .next
                }
            } catch {
                throw .store(error)
            }
        }
        return found.map { ($0.key, $0.value) }
    }

    private func paths(of operation: DisconnectOperation) throws(Failure) -> [Path] {
        switch operation {
        case .set(let path, _), .cancel(let path): return [path]
        case .update(let base, let members):
            var paths: [Path] = []
            for member in members.object ?? [:] {
                do throws(PathError) { paths.append(base.appending(try Path(parsing: member.key))) } catch {
                    throw .fault(DisconnectPlan.Fault(message: error.message))
                }
            }
            return paths
        }
    }

    private func head() throws(StoreError) -> Head? {
        try store.get(MetaKey.disconnect(session), in: .meta) { Head(row: $0) }
    }

    private func put(_ head: Head) throws(StoreError) {
        let key = MetaKey.disconnect(session)
        if head.count > 0 { try store.put(key, head.row.span, in: .meta) } else { try store.delete(key, in: .meta) }
    }
}

extension DisconnectRows.Head {
    /// Reads a row. What cannot be read counts as absent: the operations are then judged for a client that is not signed in.
    init(row: Span<UInt8>) {
        let members = (try? JSONValue(parsing: row))?.object ?? ["auth": .null]
        auth = members["auth"]
        if case .int(let number)? = members["places"] { count = Int(number) }
        if case .int(let number)? = members["bytes"] { bytes = Int(number) }
    }

    var row: [UInt8] {
        var row: JSONObject = ["places": .int(Int64(count)), "bytes": .int(Int64(bytes))]
        if let auth { row["auth"] = auth }
        return JSONValue.object(row).serialized()
    }
}
