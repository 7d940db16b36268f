/// A module whose name a plugin cannot have: the plugin's own module would replace it in every `import` of the package.
struct TakenModule {
    /// The source of the module, for a sentence.
    let owner: String

    /// Finds the module of this name, ignoring case, because the name is also a file name.
    ///
    /// - Returns: nil if the name is free.
    static func named(_ name: String) -> TakenModule? {
        let word = name.lowercased()
        return all.first { $0.modules.contains(word) }.map { TakenModule(owner: $0.owner) }
    }

    private static let all: [(owner: String, modules: Set<String>)] = [
        ("Hearth", words("CHearth Hearth HearthBytes HearthEntryPoint HearthFunctions HearthJSON HearthTesting")),
        (
            "Swift's toolchain",
            words(
                """
                Swift Builtin Any Self Block CoreFoundation Cxx CxxStdlib Darwin Dispatch Distributed Foundation FoundationEssentials \
                FoundationInternationalization FoundationNetworking FoundationXML Glibc Musl Observation OS PackageDescription \
                PackagePlugin RegexBuilder Runtime SwiftOnoneSupport SwiftShims Synchronization Testing WASILibc WinSDK XCTest
                """)
        ),
        (
            "a package that plugins commonly import",
            words(
                """
                Logging Metrics CoreMetrics MetricsTestKit Tracing Instrumentation InMemoryTracing ServiceContextModule ServiceLifecycle \
                UnixSignals ConcurrencyHelpers Configuration AsyncHTTPClient HTTPTypes HTTPTypesFoundation Algorithms AsyncAlgorithms \
                Atomics Collections BitCollections DequeModule HashTreeCollections HeapModule OrderedCollections \
                InternalCollectionsUtilities ContainersPreview Numerics ComplexModule RealModule Crypto CryptoExtras _CryptoExtras \
                SwiftASN1 X509 JWTKit System SystemPackage Subprocess ArgumentParser SwiftSyntax SwiftProtobuf GRPC GRPCCore Yams SQLite \
                GRDB PostgresNIO MySQLNIO RediStack Redis MongoSwift Vapor Fluent Leaf Hummingbird HummingbirdCore SotoCore NIO NIOCore \
                NIOPosix NIOEmbedded NIOConcurrencyHelpers NIOFoundationCompat NIOFoundationEssentialsCompat NIOFileSystem NIOTLS NIOSSL \
                NIOHTTP1 NIOHTTP2 NIOHPACK NIOHTTPCompression NIOHTTPTypes NIOWebSocket NIOExtras NIOSOCKS NIOTestUtils NIOTransportServices
                """)
        ),
    ]

    private static func words(_ text: String) -> Set<String> { Set(text.split(separator: " ").map { $0.lowercased() }) }
}
