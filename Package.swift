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
    "README-c.md", "functions.json", "database.rules.json", "hearth.sh", "serve", "test", "gitignore",
]

let package = Package(
    name: "hearth",
    products: [
        .executable(name: "hearth", targets: ["hearth"]),
        .library(name: "HearthFunctions", targets: ["HearthFunctions"]),
        .library(name: "Arithmetic", type: .dynamic, targets: ["Arithmetic"]),
        .library(name: "Messages", type: .dynamic, targets: ["Messages"]),
        .library(name: "Followers", type: .dynamic, targets: ["Followers"]),
        .library(name: "Counter", type: .dynamic, targets: ["Counter"]),
        .library(name: "Conformance", type: .dynamic, targets: ["Conformance"]),
        .library(name: "Faults", type: .dynamic, targets: ["Faults"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.15.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.1.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
    ],
    targets: [
        // System libraries and the plugin boundary.
        .systemLibrary(name: "CHearth"),
        .systemLibrary(name: "CLibuv", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CLLHTTP", cSettings: [.unsafeFlags(["-I/usr/share/include/llhttp", "-O2"])]),
        .target(name: "CLinux"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CRE2", cxxSettings: [.unsafeFlags(["-O2"])], linkerSettings: [.unsafeFlags(["-Xlinker", "-l:libre2.a", "-lstdc++"])]),
        .target(name: "CCurl", linkerSettings: [.linkedLibrary("dl")]),

        // Rooms, each importing only what stands above it.
        .target(name: "Bytes", exclude: ["README.md"], swiftSettings: house),
        .target(name: "Files", exclude: ["README.md"], swiftSettings: house),
        .target(name: "Metrics", dependencies: ["Bytes"], exclude: ["README.md"], swiftSettings: house),
        .target(name: "JSON", dependencies: ["Bytes"], exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "EventLoop", dependencies: ["Bytes", "CLibuv", "COpenSSL", "CLinux"], exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "HTTP", dependencies: ["Bytes", "EventLoop", "CLLHTTP", "CZlib", "CCurl"],
            exclude: ["README.md", "Server/README.md", "Client/README.md"], swiftSettings: house),
        .target(
            name: "Tokens",
            dependencies: [
                "Bytes", "Files", "JSON", .product(name: "JWTKit", package: "jwt-kit"), .product(name: "Crypto", package: "swift-crypto"),
            ],
            exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "Configuration", dependencies: ["Bytes", "Files"], exclude: ["README.md"], resources: [.embedInCode("functions.schema.json")],
            swiftSettings: house),
        .target(
            name: "Tree", dependencies: ["Bytes", "JSON", .product(name: "Crypto", package: "swift-crypto")], exclude: ["README.md"],
            swiftSettings: house),
        .target(name: "Rules", dependencies: ["Bytes", "JSON", "Tree", "CRE2"], exclude: ["README.md"], swiftSettings: house),
        .target(name: "SQLite", dependencies: ["CSQLite"], exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "RealtimeDatabase",
            dependencies: [
                "Bytes", "Metrics", "JSON", "EventLoop", "HTTP", "Tree", "Rules", "SQLite", .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "Messaging",
            dependencies: [
                "Bytes", "Files", "Metrics", "JSON", "EventLoop", "HTTP", "Tree", "SQLite",
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["README.md"], swiftSettings: house),
        .target(name: "CommandClient", dependencies: ["Bytes", "JSON", "COpenSSL", "CZlib"], exclude: ["README.md"], swiftSettings: house),
        .target(name: "WorkerProtocol", dependencies: ["Bytes"], exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "FunctionWorker", dependencies: ["Bytes", "EventLoop", "WorkerProtocol", "CHearth", "CLinux"],
            exclude: ["README.md"], swiftSettings: house),
        .target(name: "PluginBuild", dependencies: ["Files", "JSON", "CLinux"], exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "FunctionHost",
            dependencies: [
                "Bytes", "Files", "Metrics", "EventLoop", "HTTP", "JSON", "Tokens", "Configuration", "WorkerProtocol", "FunctionWorker", "Tree",
                "Rules", "SQLite", "RealtimeDatabase", "Messaging", "PluginBuild", "CLinux",
                .product(name: "Crypto", package: "swift-crypto"), .product(name: "Logging", package: "swift-log"),
            ],
            exclude: ["README.md"], swiftSettings: house),
        .target(
            name: "HearthFunctions",
            dependencies: ["CHearth", "JSON", "Bytes", .product(name: "Logging", package: "swift-log")], exclude: ["README.md"],
            swiftSettings: house),
        .executableTarget(
            name: "hearth",
            dependencies: [
                "FunctionHost", "FunctionWorker", "PluginBuild", "Configuration", "EventLoop", "CommandClient", "Bytes", "Files", "JSON", "CLinux",
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
            name: "Arithmetic", dependencies: ["HearthFunctions"], path: "Plugins/Arithmetic", swiftSettings: house,
            linkerSettings: pluginLinking),
        .target(
            name: "Messages", dependencies: ["HearthFunctions"], path: "Plugins/Messages", swiftSettings: house,
            linkerSettings: pluginLinking),
        .target(
            name: "Followers", dependencies: ["HearthFunctions"], path: "Plugins/Followers", swiftSettings: house,
            linkerSettings: pluginLinking),
        .target(name: "Counter", dependencies: ["CHearth"], path: "Plugins/Counter"),
        .target(
            name: "Conformance", dependencies: ["HearthFunctions"], path: "Tests/Plugins/Conformance", swiftSettings: house,
            linkerSettings: pluginLinking),
        .target(
            name: "Faults", dependencies: ["HearthFunctions"], path: "Tests/Plugins/Faults", swiftSettings: house,
            linkerSettings: pluginLinking),

        // Tests mirror the rooms.
        .target(name: "FuzzSupport", path: "Tests/FuzzSupport", swiftSettings: house),
        .testTarget(name: "BytesTests", dependencies: ["Bytes"], swiftSettings: house),
        .testTarget(name: "FilesTests", dependencies: ["Files"], swiftSettings: house),
        .testTarget(name: "MetricsTests", dependencies: ["Metrics", "Bytes"], swiftSettings: house),
        .testTarget(name: "JSONTests", dependencies: ["FuzzSupport", "JSON", "Bytes"], swiftSettings: house),
        .testTarget(name: "EventLoopTests", dependencies: ["EventLoop", "Bytes"], swiftSettings: house),
        .testTarget(name: "HTTPTests", dependencies: ["FuzzSupport", "HTTP", "EventLoop", "Bytes", "CZlib"], swiftSettings: house),
        .testTarget(
            name: "TokensTests",
            dependencies: [
                "Tokens", "JSON", .product(name: "Crypto", package: "swift-crypto"), .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "X509", package: "swift-certificates"), .product(name: "SwiftASN1", package: "swift-asn1"),
            ],
            swiftSettings: house),
        .testTarget(name: "ConfigurationTests", dependencies: ["FuzzSupport", "Configuration", "Files"], swiftSettings: house),
        .testTarget(name: "TreeTests", dependencies: ["FuzzSupport", "Tree", "JSON", "Bytes"], swiftSettings: house),
        .testTarget(
            name: "RulesTests", dependencies: ["FuzzSupport", "Rules", "Tree", "JSON", "Bytes"], exclude: ["cases"], swiftSettings: house),
        .testTarget(name: "SQLiteTests", dependencies: ["SQLite", "CSQLite"], swiftSettings: house),
        .testTarget(
            name: "RealtimeDatabaseTests",
            dependencies: [
                "FuzzSupport", "RealtimeDatabase", "Rules", "Tree", "SQLite", "CSQLite", "EventLoop", "HTTP", "JSON", "Bytes",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: house),
        .testTarget(
            name: "MessagingTests",
            dependencies: [
                "FuzzSupport", "Messaging", "SQLite", "EventLoop", "JSON", "Bytes", .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: house),
        .testTarget(name: "CommandClientTests", dependencies: ["FuzzSupport", "CommandClient", "JSON", "Bytes"], swiftSettings: house),
        .testTarget(name: "WorkerProtocolTests", dependencies: ["FuzzSupport", "WorkerProtocol", "Bytes"], swiftSettings: house),
        .testTarget(name: "FunctionWorkerTests", dependencies: ["FunctionWorker", "WorkerProtocol"], swiftSettings: house),
        .testTarget(name: "PluginBuildTests", dependencies: ["PluginBuild"], swiftSettings: house),
        .testTarget(
            name: "FunctionHostTests",
            dependencies: [
                "FuzzSupport", "FunctionHost", "RealtimeDatabase", "Tree", "Configuration", "WorkerProtocol", "EventLoop", "JSON", "Files", "Bytes",
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: house),
        .testTarget(name: "HearthFunctionsTests", dependencies: ["HearthFunctions", "JSON"], swiftSettings: house),
    ]
)
