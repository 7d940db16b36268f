import FunctionWorker
import Glibc

// Workers are started far more often than other commands: skip argument parsing.
if CommandLine.arguments.count == 2, CommandLine.arguments[1] == "worker" {
    WorkerProcess.main()
}
if CommandLine.arguments.count > 3, CommandLine.arguments[1] == SymbolizerProcess.command {
    SymbolizerProcess.main(tool: CommandLine.arguments[2], library: CommandLine.arguments[3], offsets: CommandLine.arguments.dropFirst(4))
}
if CommandLine.arguments.count == 2, CommandLine.arguments[1] == "clean-up" { WorkerCleanup.main() }
if CommandLine.arguments.count == 5, CommandLine.arguments[1] == "stand-in" { StandIn.run(CommandLine.arguments.dropFirst(2).map { Int32($0) ?? 0 }) }
// The words of an unfinished command line are not parsed as arguments.
if CommandLine.arguments.count > 1, CommandLine.arguments[1] == "complete" {
    Completion.run(Array(CommandLine.arguments.dropFirst(2)))
    exit(0)
}
CommandLineRun.main()
