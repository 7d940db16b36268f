import HearthBytes
import COpenSSL
import Glibc

/// OpenSSL's view of the socket: a memory BIO that reads from borrowed bytes and writes to a buffer.
///
/// `BIO_s_mem` would copy each record twice more, and never gives back the memory that its largest record took.
struct TLSWire: ~Copyable {
    var input: UnsafePointer<UInt8>?
    var inputCount = 0
    var output = ByteBuffer()

    // Safe: made once by the lazy initialiser of a global, and never changed after.
    nonisolated(unsafe) static let method: OpaquePointer? = {
        let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "hearth")
        BIO_meth_set_read(method, readInput)
        BIO_meth_set_write(method, writeOutput)
        BIO_meth_set_ctrl(method, control)
        return method
    }()
}

private func wire(of bio: OpaquePointer?) -> UnsafeMutablePointer<TLSWire>? {
    BIO_get_data(bio)?.assumingMemoryBound(to: TLSWire.self)
}

private func readInput(
    _ bio: OpaquePointer?, _ destination: UnsafeMutablePointer<CChar>?, _ capacity: Int32
) -> Int32 {
    hearth_bio_clear_retry_flags(bio)
    guard let wire = wire(of: bio), let destination, let source = wire.pointee.input, wire.pointee.inputCount > 0 else {
        hearth_bio_set_retry_read(bio)
        return -1
    }
    let count = min(Int(capacity), wire.pointee.inputCount)
    memcpy(destination, source, count)
    wire.pointee.input = source + count
    wire.pointee.inputCount -= count
    return Int32(count)
}

private func writeOutput(_ bio: OpaquePointer?, _ source: UnsafePointer<CChar>?, _ count: Int32) -> Int32 {
    hearth_bio_clear_retry_flags(bio)
    guard let wire = wire(of: bio), let source, count > 0 else { return 0 }
    wire.pointee.output.append(UnsafeRawBufferPointer(start: source, count: Int(count)))
    return count
}

private func control(
    _: OpaquePointer?, _ command: Int32, _: Int, _: UnsafeMutableRawPointer?
) -> Int {
    // Flushing, and (un)linking with another BIO, need nothing here; every other request is not for a wire like this.
    switch command {
    case BIO_CTRL_FLUSH, BIO_CTRL_PUSH, BIO_CTRL_POP: 1
    default: 0
    }
}
