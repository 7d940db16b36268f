/// The reason why a schedule, its time zone or its retries cannot be used: a sentence without its full stop.
package struct ScheduleError: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    /// An error at a place of a schedule.
    ///
    /// - Parameters:
    ///   - column: from 1.
    ///   - found: the text at the place; nil at the end.
    init(column: Int, expected: String, found: String?) {
        self.init("column \(column): expected \(expected), found \(found.map { "\"\($0.prefix(40))\"" } ?? "the end")")
    }
}
