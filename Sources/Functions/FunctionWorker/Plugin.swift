import HearthBytes
import CHearth
import EventLoop
import Glibc
import WorkerProtocol

/// The reason why a library was refused, in a sentence with the name of the file.
public struct PluginRefusal: Error, Sendable, CustomStringConvertible {
    /// The sentence, for the log and for the deploying user.
    public let description: String

    /// Creates a refusal with the whole sentence.
    public init(_ description: String) { self.description = description }
}

/// The handler for the answer to a service call. To be called once, on the loop.
public struct ServiceCompletion: @unchecked Sendable {
    // Unchecked: the context is the plugin's own pointer, and is only passed back to its function.
    let function: hearth_completion
    let context: UnsafeMutableRawPointer?
    let loop: EventLoop
    let invocation: InvocationID

    /// Passes the answer to the plugin: the service's JSON, or an error object.
    public func callAsFunction(succeeded: Bool, _ answer: Span<UInt8>) {
        loop.withTag(invocation.rawValue) { answer.withHearthBytes { function(context, succeeded ? 1 : 0, $0) } }
    }
}

/// Whether a plugin may continue to send. The raw values are those of `hearth_flow`.
public enum PluginFlow: Int32, Sendable {
    /// Refused: the client has left, or the invocation does not allow chunks.
    case gone = -1
    /// Accepted, but the client reads slowly: the plugin should wait for `drained`.
    case pressure = 0
    /// Accepted.
    case goOn = 1
}

/// Receives the calls of a plugin. All methods except ``pluginLogs(_:level:message:fields:)`` are called on the loop.
public protocol PluginOwner: AnyObject {
    /// An answer. The owner must ignore all but the first one.
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

/// A loaded plugin. It is never unloaded, because Swift code cannot be unloaded.
public final class Plugin: @unchecked Sendable {
    // Unchecked: other threads of a plugin only use `loop.post`, which can be called from any thread.

    /// The loop on which the plugin is called.
    public let loop: EventLoop
    /// The path of the loaded file.
    public let path: String
    /// The owner. Kept forever like the plugin, because threads of a library may call the host at any time, even after it was refused.
    public let owner: any PluginOwner

    /// The plugin's table. Members after the end of the plugin's own table are NULL.
    private var table: hearth_plugin?
    /// A buffer for each call whose context is converted to JSON.
    private var contextText = ByteBuffer()

    /// Loads the library at `path` and reads its table.
    ///
    /// - Parameter name: the name of the file in refusals, if the user does not know `path`.
    /// - Throws: `PluginRefusal` for a file that is not a library, lacks the entry point, has another major version, or reports that it cannot
    ///   run.
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
        // hearth.h defines the type of the symbol.
        let entry = unsafeBitCast(symbol, to: Entry.self)
        guard let table = entry(hostTable.pointer) else {
            throw PluginRefusal("\(name): its hearth_plugin_entry returned NULL; its reason is in the log above")
        }
        let known = try Self.known(table, name)
        guard known.manifest.data != nil, known.manifest.size > 0 else { throw PluginRefusal("\(name): has no manifest") }
        guard known.invoke != nil else { throw PluginRefusal("\(name): has no invoke function") }
        self.table = known
    }

    /// The manifest, as the plugin wrote it.
    public var manifest: [UInt8] {
        guard let bytes = table?.manifest else { return [] }
        return [UInt8](UnsafeRawBufferPointer(start: bytes.data, count: bytes.size))
    }

    /// Starts a call. Output until it returns is attributed to `invocation`.
    ///
    /// - Parameter isContextRaw: whether the context has the raw form. It is converted to JSON if the plugin does not read the raw form.
    public func invoke(
        _ invocation: InvocationID, function: UInt32, name: Span<UInt8>, deadline: UInt64, context: Span<UInt8>, isContextRaw: Bool,
        payload: Span<UInt8>
    ) {
        guard isContextRaw, !readsRawContext else {
            let format = isContextRaw ? HEARTH_CONTEXT_RAW : HEARTH_CONTEXT_JSON
            return invoke(invocation, function, name, deadline, context, format, payload)
        }
        var text = ByteBuffer()
        swap(&text, &contextText)
        text.clear(keepingAtMost: 64 << 10)
        ContextText.write(raw: context, to: &text)
        invoke(invocation, function, name, deadline, text.bytes, HEARTH_CONTEXT_JSON, payload)
        swap(&text, &contextText)
    }

    private var readsRawContext: Bool { (table?.context_formats ?? 0) & (1 << HEARTH_CONTEXT_RAW.rawValue) != 0 }

    private func invoke(
        _ invocation: InvocationID, _ function: UInt32, _ name: Span<UInt8>, _ deadline: UInt64, _ context: Span<UInt8>,
        _ format: hearth_context_format, _ payload: Span<UInt8>
    ) {
        guard let invoke = table?.invoke else { return }
        name.withHearthBytes { name in
            context.withHearthBytes { context in
                payload.withHearthBytes { payload in
                    var call = hearth_invocation(
                        id: invocation.rawValue, function: function, context_format: format.rawValue, name: name, deadline_ns: deadline,
                        context: context, payload: payload)
                    loop.withTag(invocation.rawValue) { invoke(&call) }
                }
            }
        }
    }

    /// Tells the plugin that the result of this invocation is no longer needed.
    public func cancel(_ invocation: InvocationID) {
        guard let cancel = table?.cancel else { return }
        loop.withTag(invocation.rawValue) { cancel(invocation.rawValue) }
    }

    /// Tells the plugin that the client has read what it has sent.
    public func drained(_ invocation: InvocationID) {
        guard let drained = table?.drained else { return }
        loop.withTag(invocation.rawValue) { drained(invocation.rawValue) }
    }

    /// Lets the plugin clean up. It is not called again.
    public func shutdown() { table?.shutdown?() }

    /// The size of the members that every plugin has: those up to `invoke`, as in version 1.0 of the interface.
    private static let tableBytesMin = (MemoryLayout<hearth_plugin>.offset(of: \.invoke) ?? 0) + MemoryLayout<UnsafeRawPointer>.size

    /// Copies the members of a plugin's table that both sides know. The table of a plugin that was built with an older header is shorter, that of
    /// a newer one longer.
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

    /// The dynamic loader's message, without the path with which it usually begins.
    private static func loaderMessage(without path: String) -> String {
        guard let text = dlerror() else { return "unknown reason" }
        let message = String(cString: text)
        return message.hasPrefix(path + ": ") ? String(message.dropFirst(path.count + 2)) : message
    }
}

extension Span<UInt8> {
    /// Passes these bytes to C code.
    func withHearthBytes<R>(_ body: (hearth_bytes) -> R) -> R {
        withUnsafeBytes { body(hearth_bytes(data: $0.baseAddress, size: $0.count)) }
    }
}

extension hearth_bytes {
    /// The bytes from a plugin as a span, which is valid during `body`.
    func withSpan<R>(_ body: (Span<UInt8>) -> R) -> R {
        let bytes = UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size)
        return bytes.withMemoryRebound(to: UInt8.self) { body(Span(_unsafeElements: $0)) }
    }

    /// A copy of the bytes.
    var array: [UInt8] { [UInt8](UnsafeRawBufferPointer(start: data, count: data == nil ? 0 : size)) }
}
