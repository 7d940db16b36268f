// swift-tools-version:6.2
import PackageDescription

/// Functions whose tests run in memory and on a host: both must show the same.
let package = Package(
    name: "parity",
    products: [.library(name: "Parity", type: .dynamic, targets: ["Parity"])],
    dependencies: [.package(name: "hearth-sdk", path: "../../../SDK")],
    targets: [
        .target(
            name: "Parity", dependencies: [.product(name: "HearthFunctions", package: "hearth-sdk")],
            plugins: [.plugin(name: "HearthEntryPoint", package: "hearth-sdk")]),
        .testTarget(name: "ParityTests", dependencies: ["Parity", .product(name: "HearthTesting", package: "hearth-sdk")]),
    ]
)
