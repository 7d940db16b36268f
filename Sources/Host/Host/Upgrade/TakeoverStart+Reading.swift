import CLinux
import EventLoop
import Glibc
import HearthJSON
import HostCore

extension TakeoverStart {
    /// Reads the message of the host that has started this process to take over from it. Nil if it was not started for that.
    ///
    /// Waits for the message, and removes the environment variable.
    ///
    /// - Throws: `HostStartError` if the message is malformed.
    public static func fromEnvironment() throws(HostStartError) -> TakeoverStart? {
        guard let text = getenv(variable).map({ String(cString: $0) }) else { return nil }
        unsetenv(variable)
        guard let descriptor = Int32(text), descriptor > 2 else { return nil }
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&watched, 1, 10_000) == 1 else { throw HostStartError("the running host does not answer, so it cannot be taken over from") }
        var room = [UInt8](repeating: 0, count: MessageChannel.messageBytesMax)
        var descriptors = [Int32](repeating: -1, count: Int(LINUX_DESCRIPTORS_MAX))
        var count = 0
        let received = linux_receive_descriptors(descriptor, &room, room.count, &descriptors, &count)
        guard received > 0, room[0] == UpgradeMessage.start.rawValue, let said = try? JSONValue(parsing: Array(room[1..<received])) else {
            throw HostStartError("the running host sent a message that cannot be read, so it cannot be taken over from")
        }
        guard said["version"]?.int == version else {
            throw HostStartError("the running host is of another version that cannot be taken over from; restart it instead")
        }
        var sockets: [ListeningSocket] = []
        do throws(LoopError) {
            for descriptor in descriptors[..<count] { sockets.append(try ListeningSocket(descriptor: descriptor)) }
        } catch {
            throw HostStartError("the sockets of the running host cannot be used: \(error)")
        }
        var workers: [String: Int] = [:]
        for (name, value) in said["workers"]?.object ?? [:] { workers[name] = value.int ?? 0 }
        return TakeoverStart(descriptor: descriptor, sockets: sockets, workers: workers, deployed: said["deployed"]?.string)
    }

    /// Sends the reason why this process cannot take over to the old host.
    public func refuse(_ sentence: String) {
        let bytes = UpgradeMessage.failed.bytes(sentence.utf8.prefix(16 * 1024))
        _ = linux_send_descriptors(descriptor, bytes, bytes.count, nil, 0)
    }
}
