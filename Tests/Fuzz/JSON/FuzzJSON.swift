/// The entry point that libFuzzer calls with every text that it makes; see `run`.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ bytes: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = Array(UnsafeBufferPointer(start: bytes, count: count))
    let broken = Properties.broken(by: text)
    precondition(broken.isEmpty, broken.joined(separator: "; "))
    return 0
}
