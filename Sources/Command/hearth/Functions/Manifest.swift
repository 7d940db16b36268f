import ArgumentParser
import EventLoop
import FunctionWorker
import Glibc
import PluginBuild
import WorkerProtocol

/// `hearth manifest LIBRARY`: prints the manifest of a library. `hearth deploy --dry-run` uses it, so that a plan needs no upload.
struct Manifest: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "manifest", abstract: "Internal: prints the manifest of a library.", shouldDisplay: false)

    @Argument(help: ArgumentHelp("The library of a plugin.", valueName: "library"))
    var library: String

    func run() throws {
        let owner = PrintingOwner()
        do {
            let plugin = try Plugin(path: library, loop: try EventLoop(), owner: owner)
            Terminal.write(LibraryProbe.marker + String(decoding: plugin.manifest, as: UTF8.self))
        } catch {
            Terminal.writeError("\(error)")
            _exit(1)
        }
        // Exits without waiting for threads of the plugin.
        _exit(0)
    }
}

/// Prints log messages of a plugin; its functions are never called.
private final class PrintingOwner: PluginOwner {
    func pluginAnswers(_ invocation: InvocationID, kind: AnswerKind, head: Span<UInt8>, body: Span<UInt8>) {}
    func pluginStartsResponse(_ invocation: InvocationID, head: Span<UInt8>) -> PluginFlow { .gone }
    func pluginSendsChunk(_ invocation: InvocationID, _ chunk: Span<UInt8>) -> PluginFlow { .gone }
    func pluginCallsService(
        _ invocation: InvocationID, service: Span<UInt8>, method: Span<UInt8>, payload: Span<UInt8>, completion: ServiceCompletion
    ) {}

    func pluginLogs(_ invocation: InvocationID, level: UInt8, message: Span<UInt8>, fields: Span<UInt8>) {
        Terminal.writeError(message.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) })
    }
}
