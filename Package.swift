// swift-tools-version:6.2
import PackageDescription

/// What every room is compiled with: language mode 6 is the default of this tools version.
let house: [SwiftSetting] = [
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableExperimentalFeature("Lifetimes"),
    .unsafeFlags(["-enforce-exclusivity=unchecked", "-cross-module-optimization"], .when(configuration: .release)),
]

/// Programs and plugins have the Swift runtime linked in: the machine that they are deployed to needs no toolchain. Packed
/// relocations touch fewer pages at start, which each worker would have to itself.
let staticRuntimeFlags = ["-static-stdlib", "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]
let pluginLinking: [LinkerSetting] = [.unsafeFlags(staticRuntimeFlags, .when(configuration: .release))]
let programLinking: [LinkerSetting] = [
    // Nothing looks up symbols in the program, so that what is not called can be left out.
    .unsafeFlags(staticRuntimeFlags + ["-Xlinker", "--no-export-dynamic", "-Xlinker", "--icf=safe"], .when(configuration: .release)),
    // The static FoundationEssentials, which the token library brings, does not name what it needs.
    .linkedLibrary("_FoundationCShims", .when(configuration: .release)),
    .linkedLibrary("_FoundationCollections", .when(configuration: .release)),
]

/// What `hearth init` writes.
let projectTemplates = [
    "Package.swift", "Functions.swift", "plugin.c", "hearth.h", "build-swift", "build-c", "run-swift", "run-c", "README-swift.md",
    "README-c.md", "functions.json", "database.rules.json", "hearth", "hearth.sh", "serve", "test", "gitignore",
]

/// A module of the package that plugin authors depend on.
func sdk(_ module: String) -> Target.Dependency { .product(name: module, package: "hearth-sdk") }
let bytes = sdk("HearthBytes")
let json = sdk("HearthJSON")

let package = Package(
    name: "hearth",
    products: [
        .executable(name: "hearth", targets: ["hearth"]),
        .library(name: "Arithmetic", type: .dynamic, targets: ["Arithmetic"]),
        .library(name: "Messages", type: .dynamic, targets: ["Messages"]),
        .library(name: "Followers", type: .dynamic, targets: ["Followers"]),
        .library(name: "Counter", type: .dynamic, targets: ["Counter"]),
        .library(name: "Conformance", type: .dynamic, targets: ["Conformance"]),
        .library(name: "Faults", type: .dynamic, targets: ["Faults"]),
    ],
    dependencies: [
        .package(name: "hearth-sdk", path: "SDK"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.15.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.1.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
    ],
    targets: [
        // System libraries.
        .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CLLHTTP", cSettings: [.unsafeFlags(["-I/usr/share/include/llhttp", "-O2"])]),
        .target(name: "CLinux"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CRE2", cxxSettings: [.unsafeFlags(["-O2"])], linkerSettings: [.unsafeFlags(["-Xlinker", "-l:libre2.a", "-lstdc++"])]),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("dl")]),

        // Rooms, each importing only what stands above it.
        .target(name: "Files", exclude: ["README.md"], swiftSettings: house),
        .target(name: "Metrics", dependencies: [bytes], exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "EventLoop", dependencies: [bytes, "CLibuv", "COpenSSL", "CLinux"], exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "HTTP", dependencies: [bytes, "EventLoop", "CLLHTTP", "CZlib", "CCurl"],
            exclude: ["README.md", "Server/README.md", "Client/README.md"], swiftSettings: house),
        .target(
            name: "Tokens",
            dependencies: [
                bytes, "Files", json, .product(name: "JWTKit", package: "jwt-kit"), .product(name: "Crypto", package: "swift-crypto"),
            ],
            exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "Configuration", dependencies: [bytes, "Files"], exclude: ["README.md"], resources: [.embedInCode("functions.schema.json")],
            swiftSettings: house),
        .target(
            name: "Tree", dependencies: [bytes, json, .product(name: "Crypto", package: "swift-crypto")], exclude: ["README.md"],
            swiftSettings: house),
        .target(name: "Rules", dependencies: [bytes, json, "Tree", "CRE2"], exclude: ["README.md"], swiftSettings: house),
        .target(name: "SQLite", dependencies: ["CSQLite"], exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "RealtimeDatabase",
            dependencies: [
                bytes, "Files", "Metrics", json, "EventLoop", "HTTP", "Tree", "Rules", "SQLite",
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "Messaging",
            dependencies: [
                bytes, "Files", "Metrics", json, "EventLoop", "HTTP", "Tree", "SQLite",
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["README.md"], swiftSettings: house),
        .target(name: "CommandClient", dependencies: [bytes, json, "COpenSSL", "CZlib"], exclude: ["README.md"], swiftSettings: house),
        .target(name: "WorkerProtocol", dependencies: [bytes], exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "FunctionWorker", dependencies: [bytes, "EventLoop", "WorkerProtocol", sdk("CHearth"), "CLinux"],
            exclude: ["README.md"], swiftSettings: house),
        .target(name: "PluginBuild", dependencies: ["Files", json, "CLinux"], exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "FunctionHost",
            dependencies: [
                bytes, "Files", "Metrics", "EventLoop", "HTTP", json, "Tokens", "Configuration", "WorkerProtocol", "FunctionWorker", "Tree",
                "Rules", "SQLite", "RealtimeDatabase", "Messaging", "PluginBuild", "CLinux",
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["README.md"], swiftSettings: house),
        .executableTarget(
            name: "hearth",
            dependencies: [
                "FunctionHost", "FunctionWorker", "PluginBuild", "Configuration", "EventLoop", "HTTP", "CommandClient", "WorkerProtocol",
                bytes, "Files", json, "CLinux",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["README.md"],
            resources: projectTemplates.map { .embedInCode("Init/Templates/\($0).template") }
                + ["bash", "zsh", "fish"].map { .embedInCode("Arguments/completions.\($0)") },
            swiftSettings: house,
            linkerSettings: programLinking),

        // Plugins: the examples, and those that the tests need.
        .target(
            name: "Arithmetic", dependencies: [sdk("HearthFunctions")], path: "Plugins/Arithmetic", swiftSettings: house,
            linkerSettings: pluginLinking),
        .target(
            name: "Messages", dependencies: [sdk("HearthFunctions")], path: "Plugins/Messages", swiftSettings: house,
            linkerSettings: pluginLinking),
        .target(
            name: "Followers", dependencies: [sdk("HearthFunctions")], path: "Plugins/Followers", swiftSettings: house,
            linkerSettings: pluginLinking),
        .target(name: "Counter", dependencies: [sdk("CHearth")], path: "Plugins/Counter"),
        .target(
            name: "Conformance", dependencies: [sdk("HearthFunctions")], path: "Tests/Plugins/Conformance", swiftSettings: house,
            linkerSettings: pluginLinking),
        .target(
            name: "Faults", dependencies: [sdk("HearthFunctions")], path: "Tests/Plugins/Faults", swiftSettings: house,
            linkerSettings: pluginLinking),

        // Tests mirror the rooms.
        .target(name: "FuzzSupport", path: "Tests/FuzzSupport", swiftSettings: house),
        .testTarget(name: "HearthBytesTests", dependencies: [bytes], swiftSettings: house),
        .testTarget(name: "FilesTests", dependencies: ["Files"], swiftSettings: house),
        .testTarget(name: "MetricsTests", dependencies: ["Metrics", bytes], swiftSettings: house),
        .testTarget(name: "HearthJSONTests", dependencies: ["FuzzSupport", json, bytes], swiftSettings: house),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", bytes], swiftSettings: house),
        .testTarget(name: "HTTPTests", dependencies: ["FuzzSupport", "HTTP", "EventLoop", bytes, "CZlib"], swiftSettings: house),
        .testTarget(
            name: "TokensTests",
            dependencies: [
                "Tokens", json, .product(name: "Crypto", package: "swift-crypto"), .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "X509", package: "swift-certificates"), .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            swiftSettings: house),
        .testTarget(name: "ConfigurationTests", dependencies: ["FuzzSupport", "Configuration", "Files"], swiftSettings: house),
        .testTarget(name: "TreeTests", dependencies: ["FuzzSupport", "Tree", json, bytes], swiftSettings: house),
        .testTarget(
            name: "RulesTests", dependencies: ["FuzzSupport", "Rules", "Tree", json, bytes], exclude: ["cases"], swiftSettings: house),
        .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "CSQLite"], swiftSettings: house),
        .testTarget(
            name: "RealtimeDatabaseTests",
            dependencies: [
                "FuzzSupport", "RealtimeDatabase", "Rules", "Tree", "SQLite", "CSQLite", "EventLoop", "HTTP", json, bytes,
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: house),
        .testTarget(
            name: "MessagingTests",
            dependencies: [
                "FuzzSupport", "Messaging", "SQLite", "EventLoop", json, bytes, .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: house),
        .testTarget(name: "CommandClientTests", dependencies: ["FuzzSupport", "CommandClient", json, bytes], swiftSettings: house),
        .testTarget(name: "WorkerProtocolTests", dependencies: ["FuzzSupport", "WorkerProtocol", bytes], swiftSettings: house),
        .testTarget(name: "FunctionWorkerTests", dependencies: ["FunctionWorker", "WorkerProtocol", "CLinux"], swiftSettings: house),
        .testTarget(name: "PluginBuildTests", dependencies: ["PluginBuild"], swiftSettings: house),
        .testTarget(
            name: "FunctionHostTests",
            dependencies: [
                "FuzzSupport", "FunctionHost", "RealtimeDatabase", "Tree", "Configuration", "WorkerProtocol", "EventLoop", json, "Files", bytes,
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: house),
        .testTarget(name: "HearthFunctionsTests", dependencies: [sdk("HearthFunctions"), json], swiftSettings: house),
    ]
)
