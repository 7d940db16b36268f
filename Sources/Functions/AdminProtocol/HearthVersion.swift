/// The version of this program.
package enum HearthVersion {
    /// For example `0.1.0`.
    package static let text = "0.1.0"
}
