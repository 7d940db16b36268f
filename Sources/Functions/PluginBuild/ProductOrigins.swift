/// What a product is made from, for those who watch it.
public struct ProductOrigins: Sendable, Equatable {
    /// Sources and package descriptions; some need not exist.
    public let files: Set<String>
    /// Folders in which, at any depth, a new file may belong to the product.
    public let trees: Set<String>

    /// - Parameter directory: the package's folder, whose `.build` nobody edits.
    init(_ plan: ProductPlan, directory: String) {
        let scratch = "\(directory)/.build/"
        files = Set(plan.sources).union(plan.guards).filter { !$0.hasPrefix(scratch) }
        // The folder of a target, where the package manager names it; else the folders that sources are in.
        trees = Set(plan.folders.map { folder in plan.trees.first { folder == $0 || folder.hasPrefix("\($0)/") } ?? folder })
    }
}
