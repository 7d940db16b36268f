import HearthBytes
import CHearth
import EventLoop
import Glibc
import WorkerProtocol

/// A library that was refused, in one sentence that names the file and the reason.
public struct PluginRefusal: Error, Sendable, CustomStringConvertible {
    /// One sentence for the log and for the deploying user.
    public let description: String

    /// A refusal; `description` is the whole sentence.
    public init(_ description: String) { self.description = description }
}

/// The handler for the answer to a service call. Call it once, on the loop.
public struct ServiceCompletion: @unchecked Sendable {
    // Unchecked: the context is the plugin's own pointer, only handed back to its function.
    let function: hearth_completion
    let context: UnsafeMutableRawPointer?
    let loop: EventLoop
    let invocation: InvocationID

    /// Hands the answer to the plugin: the service's JSON, or an error object.
    public func callAsFunction(succeeded: Bool, _ answer: Span<UInt8>) {
        loop.withTag(invocation.rawValue) { answer.withHearthBytes { function(context, succeeded ? 1 : 0, $0) } }
    }
}

/// Whether a plugin should go on sending; the numbers are those of `hearth_flow`.
public enum PluginFlow: Int32, Sendable {
    /// Not taken: the client left, or the invocation is not open for it.
    case gone = -1
    /// Taken, but the client reads slowly: wait until it has drained.
    case pressure = 0
    /// Taken.
    case goOn = 1
}

/// Gets what a plugin says. Everything but ``pluginLogs(_:level:message:fields:)`` is called on the loop.
public protocol PluginOwner: AnyObject {
    /// An answer; the owner sees to it that only the first counts.
    func pluginAnswers(_ invocation: InvocationID, kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>)
    /// A streamed response begins.
    func pluginStartsResponse(_ invocation: InvocationID, head: Span<UInt8>) -> PluginFlow
    /// A part of an answer.
    func pluginSendsChunk(_ invocation: InvocationID, _ chunk: Span<UInt8>) -> PluginFlow
    /// A call of one of the host's services.
    func pluginCallsService(
        _ invocation: InvocationID, service: Span<UInt8>, method: Span<UInt8>, payload: Span<UInt8>, completion: ServiceCompletion)
    /// A line for the log. Called on any thread.
    func pluginLogs(_ invocation: InvocationID, level: UInt8, message: Span<UInt8>, fields: Span<UInt8>)
}

/// A loaded plugin. It is never unloaded: Swift code cannot be.
public final class Plugin: @unchecked Sendable {
    // Unchecked: a plugin's own threads use it only to reach `loop`, whose `post` may be called from anywhere.

    /// The loop that the plugin is called on.
    public let loop: EventLoop
    /// The file that was loaded.
    public let path: String
    /// The owner. Kept for good, as the plugin is: threads of a library may call the host at any time, also after a refusal.
    public let owner: any PluginOwner

    /// The plugin's side of the boundary. Members behind the end of the plugin's own table are NULL.
    private var table: hearth_plugin?

    /// Loads the library at `path` and asks it what it offers.
    ///
    /// - Parameter name: what the refusal calls the file, where `path` would tell a user nothing.
    /// - Throws: `PluginRefusal` for a file that is no library, lacks the entry point, has another major version, or
    ///   says itself that it cannot run.
    public init(path: String, name: String? = nil, loop: EventLoop, owner: any PluginOwner) throws(PluginRefusal) {
        self.loop = loop
        self.path = path
        self.owner = owner
        let name = name ?? path
        guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
            throw PluginRefusal("\(name): cannot be loaded: \(Self.loaderMessage(without: path))")
        }
        guard let symbol = dlsym(library, "hearth_plugin_entry") else {
            throw PluginRefusal("\(name): has no function hearth_plugin_entry, so it is not a Hearth plugin")
        }
        let hostTable = PluginHostTable(plugin: self)
        typealias Entry = @convention(c) (UnsafePointer<hearth_host>) -> UnsafePointer<hearth_plugin>?
        // The symbol's type is fixed by hearth.h.
        let entry = unsafeBitCast(symbol, to: Entry.self)
        guard let table = entry(hostTable.pointer) else {
            throw PluginRefusal("\(name): its hearth_plugin_entry returned NULL; its reason is in the log above")
        }
        let known = try Self.known(table, name)
        guard known.manifest.data != nil, known.manifest.size > 0 else { throw PluginRefusal("\(name): has no manifest") }
        guard known.invoke != nil else { throw PluginRefusal("\(name): has no invoke function") }
        self.table = known
    }

    /// The manifest as the plugin wrote it.
    public var manifest: [UInt8] {
        guard let bytes = table?.manifest else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes.data, count: bytes.size))
    }

    /// Starts a call. What it prints until it returns belongs to `invocation`.
    public func invoke(
        _ invocation: InvocationID, function: UInt32, name: Span<UInt8>, deadline: UInt64, context: Span<UInt8>, payload: Span<UInt8>
    ) {
        guard let invoke = table?.invoke else { return }
        name.withHearthBytes { name in
            context.withHearthBytes { context in
                payload.withHearthBytes { payload in
                    var call = hearth_invocation(
                        id: invocation.rawValue, function: function, reserved: 0, name: name, deadline_ns: deadline, context: context,
                        payload: payload)
                    loop.withTag(invocation.rawValue) { invoke(&call) }
                }
            }
        }
    }

    /// Tells the plugin that nobody waits for this invocation any more.
    public func cancel(_ invocation: InvocationID) {
        guard let cancel = table?.cancel else { return }
        loop.withTag(invocation.rawValue) { cancel(invocation.rawValue) }
    }

    /// Tells the plugin that the client has read what it had sent.
    public func drained(_ invocation: InvocationID) {
        guard let drained = table?.drained else { return }
        loop.withTag(invocation.rawValue) { drained(invocation.rawValue) }
    }

    /// Lets the plugin put its things in order; it is not called again.
    public func shutdown() { table?.shutdown?() }

    /// The size of the members that each plugin has: those up to `invoke`, as in version 1.0 of the boundary.
    private static let tableBytesMin = (MemoryLayout<hearth_plugin>.offset(of: \.invoke) ?? 0) + MemoryLayout<UnsafeRawPointer>.size

    /// Copies the members of a plugin's table that both sides know. The table of a plugin that was built against an older header is
    /// shorter, that of a newer one longer.
    private static func known(_ table: UnsafePointer<hearth_plugin>, _ name: String) throws(PluginRefusal) -> hearth_plugin {
        let major = table.pointee.abi_major
        guard major == UInt32(HEARTH_ABI_MAJOR) else {
            throw PluginRefusal("\(name): is built for plugin ABI \(major), this host speaks \(HEARTH_ABI_MAJOR)")
        }
        let size = table.pointee.size
        guard size >= tableBytesMin else {
            throw PluginRefusal("\(name): its plugin table has \(size) bytes, expected at least \(tableBytesMin)")
        }
        var known = hearth_plugin()
        withUnsafeMutableBytes(of: &known) { known in
            known.copyMemory(from: UnsafeRawBufferPointer(start: table, count: min(size, known.count)))
        }
        return known
    }

    /// The dynamic loader's words without the path that they usually begin with.
    private static func loaderMessage(without path: String) -> String {
        guard let text = dlerror() else { return "unknown reason" }
        let message = String(cString: text)
        return message.hasPrefix(path + ": ") ? String(message.dropFirst(path.count + 2)) : message
    }
}

extension Span<UInt8> {
    /// Lends these bytes to C.
    func withHearthBytes<R>(_ body: (hearth_bytes) -> R) -> R {
        withUnsafeBytes { body(hearth_bytes(data: $0.baseAddress, size: $0.count)) }
    }
}

extension hearth_bytes {
    /// Lends the bytes that a plugin handed over, for the length of `body`.
    func withSpan<R>(_ body: (Span<UInt8>) -> R) -> R {
        let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size)
        return bytes.withMemoryRebound(to: UInt8.self) { body(Span(_unsafeElements: $0)) }
    }

    /// A copy of the bytes.
    var array: [UInt8] { [UInt8](UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size)) }
}
