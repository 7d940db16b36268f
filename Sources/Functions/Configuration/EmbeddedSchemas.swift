extension Configuration {
    /// The JSON Schema of `functions.json`, as it lies beside one.
    public static var schema: [UInt8] { PackageResources.functions_schema_json }
}

extension Schema {
    private static let functionsFile = "functions.schema.json"

    /// Of `functions.json`.
    static let functions = embedded(PackageResources.functions_schema_json, file: functionsFile)

    /// Of the manifest with which a plugin describes itself.
    static let manifest = embedded(
        Array(manifestText.utf8), file: "manifest.schema.json", library: (functionsFile, PackageResources.functions_schema_json))

    /// Reads a schema that is part of the program, so that one which cannot be read is a mistake of the build.
    private static func embedded(_ bytes: [UInt8], file: String, library: (file: String, bytes: [UInt8])? = nil) -> Schema {
        do {
            return try SchemaCompiler.compile(bytes, file: file, library: library)
        } catch {
            preconditionFailure("\(error)")
        }
    }
}
