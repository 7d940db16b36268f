/// Facts about the process that this copy of the SDK is loaded into. They decide which process-wide settings it may change.
enum Premises {
    /// Whether this code is in a library, as a plugin is, and not in a program that plays the host, as a test does.
    static let isPlugin: Bool = {
        guard let own = imageBase(of: address(of: Attachment.self)) else { return false }
        return own != imageBase(of: UnsafeRawPointer(bitPattern: auxiliaryValue(entryOfProgram)))
    }()

    /// Whether Swift's runtime serves this plugin alone: it is linked into the plugin, or the host says by `HEARTH_WORKER=1`
    /// that the process is this plugin's. Otherwise another plugin or the host itself may use it too.
    static let ownsSwiftRuntime: Bool = {
        guard isPlugin else { return false }
        if environment("HEARTH_WORKER") == "1" { return true }
        let runtime = imageBase(of: address(of: type(of: globalConcurrentExecutor)))
        return runtime != nil && runtime == imageBase(of: address(of: Attachment.self))
    }()

    /// The address of a class's description, which is in the image that the class was compiled into.
    private static func address(of type: any AnyObject.Type) -> UnsafeRawPointer? {
        UnsafeRawPointer(bitPattern: UInt(bitPattern: ObjectIdentifier(type)))
    }

    private static func imageBase(of address: UnsafeRawPointer?) -> UnsafeRawPointer? {
        var image = Image()
        guard let address, findImage(address, &image) != 0 else { return nil }
        return image.base
    }
}

/// `Dl_info` of dlfcn.h.
private struct Image {
    var path: UnsafePointer<CChar>?
    var base: UnsafeRawPointer?
    var symbolName: UnsafePointer<CChar>?
    var symbolAddress: UnsafeRawPointer?
}

/// `AT_ENTRY` of elf.h: where the program itself begins to run.
private let entryOfProgram: UInt = 9

// Both are C functions that the Glibc module leaves out; with words alone as arguments, Swift's calling convention is C's.
@_silgen_name("dladdr")
private func findImage(_ address: UnsafeRawPointer, _ image: UnsafeMutablePointer<Image>) -> CInt
// As above.
@_silgen_name("getauxval")
private func auxiliaryValue(_ type: UInt) -> UInt
