import Accounts
import AdminProtocol
import DatabaseAPI
import EventDelivery
import EventLoop
import FunctionDispatch
import FunctionServices
import HTTP
import Logs
import Metrics
import RealtimeDatabase
import Schedules
import TaskQueues
import Telemetry

/// Collects the figures of a report. `docs/metrics.md` lists the same families, which a test checks.
struct MetricsReport {
    private let figures: MetricsGatherer
    /// The sum of the figures of open and closed databases.
    private let databases: TotalFigures

    init(_ figures: MetricsGatherer) {
        self.figures = figures
        var databases = figures.closedDatabases
        for figures in figures.writers.values { databases.writer.merge(figures) }
        for figures in figures.readers.values { databases.reader.merge(figures) }
        self.databases = databases
    }

    func makeSet() -> MetricSet {
        var set = MetricSet()
        writeFunctions(to: &set)
        writeInstances(to: &set)
        writeRequests(to: &set)
        writeMemory(to: &set)
        writeLogs(to: &set)
        writeDatabase(to: &set)
        writeLive(to: &set)
        writeOutbox(to: &set)
        writeSchedules(figures.schedules.figures, to: &set)
        writeTasks(figures.tasks.figures, to: &set)
        writeCache(figures.cache.figures, to: &set)
        writeMessaging(figures.messaging, to: &set)
        writeTelemetry(figures.telemetryFigures(), to: &set)
        writeProcess(to: &set)
        return set
    }

    // MARK: Functions

    private func writeFunctions(to set: inout MetricSet) {
        let functions = figures.dispatcher.figures.all.map { function in
            (labels: [("function", function.function), ("version", "\(function.version)")] as [MetricSet.Label], counts: function.total)
        }
        set.begin(
            "hearth_function_invocations_total", .counter,
            "Finished invocations, by the code of their answer: of the callable protocol, or the class of an HTTP status.")
        for function in functions {
            for outcome in InvocationOutcome.all where outcome.isAlwaysTold || function.counts.count(outcome) > 0 {
                set.sample(function.labels + [("code", outcome.name)], function.counts.count(outcome))
            }
        }
        set.begin("hearth_function_invocations_in_flight", .gauge, "Unfinished invocations, including those that wait for an instance.")
        for function in functions { set.sample(function.labels, function.counts.inFlight) }
        set.begin("hearth_function_duration_seconds", .histogram, "From an invocation's admission to its end, including its wait.")
        for function in functions { set.sample(function.labels, function.counts.durations) }
        set.begin("hearth_function_queue_wait_seconds", .histogram, "How long invocations waited for an instance; most do not wait at all.")
        for function in functions { set.sample(function.labels, function.counts.allWaits) }
        set.begin(
            "hearth_function_cold_start_seconds", .histogram, "The waiting time of invocations for which no instance was ready.")
        for function in functions { set.sample(function.labels, function.counts.coldStarts) }
    }

    private func writeInstances(to set: inout MetricSet) {
        let pools = figures.dispatcher.poolFigures
        set.begin("hearth_instances", .gauge, "Instances of an artifact by state. Functions of one plugin may share instances.")
        for pool in pools {
            for (state, count) in [("starting", pool.starting), ("idle", pool.idle), ("busy", pool.busy), ("draining", pool.draining)] {
                set.sample([("plugin", pool.plugin), ("artifact", pool.artifact), ("state", state)], count)
            }
        }
        set.begin("hearth_queue_length", .gauge, "Invocations that wait for an instance of an artifact.")
        for pool in pools { set.sample([("plugin", pool.plugin), ("artifact", pool.artifact)], pool.waiting) }
        let usage = figures.usage.sums.sorted { ($0.key.plugin, $0.key.artifact) < ($1.key.plugin, $1.key.artifact) }
        set.begin("hearth_instance_cpu_seconds_total", .counter, "Processor time of the instances of an artifact.")
        for (key, sum) in usage { set.sample([("plugin", key.plugin), ("artifact", key.artifact)], sum.cpuSeconds) }
        set.begin("hearth_instance_resident_bytes", .gauge, "Resident memory of the instances of an artifact.")
        for (key, sum) in usage { set.sample([("plugin", key.plugin), ("artifact", key.artifact)], sum.residentBytes) }
        let plugins = figures.dispatcher.pluginFigures
        set.begin("hearth_instance_start_seconds", .histogram, "From the request for an instance until its plugin is loaded.")
        for plugin in plugins { set.sample([("plugin", plugin.plugin)], plugin.starts) }
        set.begin(
            "hearth_instance_ends_total", .counter, "Instances that have ended: on request, or by a crash, a kill, or a plugin that does not load.")
        for plugin in plugins {
            set.sample([("plugin", plugin.plugin), ("reason", "told")], plugin.ends)
            set.sample([("plugin", plugin.plugin), ("reason", "crashed")], plugin.crashes)
        }
    }

    // MARK: Requests and lines

    private func writeRequests(to set: inout MetricSet) {
        let loops = figures.loops
        set.begin("hearth_http_requests_total", .counter, "Requests of every kind that were answered, by the class of the status.")
        for digit in 1...5 {
            set.sample([("code", "\(digit)xx")], loops.reduce(0) { $0 + $1.server.answers(ofClass: digit) })
        }
        set.number(
            "hearth_http_connections_total", .counter, loops.reduce(0) { $0 + $1.server.connectionsAccepted },
            "Accepted connections, including refused ones.")
        set.number("hearth_http_connections_open", .gauge, loops.reduce(0) { $0 + $1.connectionsOpen }, "Connections that are open.")
        writeHTTP2(loops.map(\.http2), to: &set)
        set.begin("hearth_loop_lag_seconds", .gauge, "How long a message waited for an event loop just now.")
        for (index, loop) in loops.enumerated() { set.sample([("loop", "\(index)")], Double(loop.lagNanoseconds) / 1_000_000_000) }
        set.number(
            "hearth_scrape_missing_parts", .gauge, figures.missingCount,
            "Parts of these figures that did not arrive in time and are older than the others.")
    }

    private func writeHTTP2(_ loops: [HTTP2Figures], to set: inout MetricSet) {
        func sum(_ figure: (HTTP2Figures) -> Int) -> Int { loops.reduce(0) { $0 + figure($1) } }
        set.number("hearth_http2_connections_total", .counter, sum(\.connections), "Connections that have spoken HTTP/2.")
        set.number("hearth_http2_connections_open", .gauge, sum(\.connectionsOpen), "Those that are open.")
        set.number("hearth_http2_streams_total", .counter, sum(\.streams), "Requests of HTTP/2, including refused ones.")
        set.number("hearth_http2_streams_open", .gauge, sum(\.streamsOpen), "Requests of HTTP/2 that are not finished.")
        set.begin(
            "hearth_http2_resets_total", .counter, "Requests of HTTP/2 that ended early: cancelled by the client, or by a fault of the protocol.")
        set.sample([("by", "client")], sum(\.resetsByClients))
        set.sample([("by", "host")], sum(\.resetsByServer))
        set.begin("hearth_http2_goaways_total", .counter, "Connections whose end the host has announced, by reason.")
        for ending in HTTP2Figures.Ending.allCases { set.sample([("reason", ending.rawValue)], sum { $0.count(of: ending) }) }
    }

    private func writeMemory(to set: inout MetricSet) {
        let parts = figures.memory.parts
        set.begin("hearth_memory_held_bytes", .gauge, "Memory that the host holds for clients and plugins, by purpose.")
        for part in parts { set.sample([("for", part.name)], part.bytes) }
        set.begin("hearth_memory_limit_bytes", .gauge, "Its limit (server.memoryBytes).")
        for part in parts { set.sample([("for", part.name)], part.bytesMax) }
        set.begin("hearth_memory_refusals_total", .counter, "How often memory was exhausted: a request was refused, or had to wait.")
        for part in parts { set.sample([("for", part.name)], part.refusals) }
    }

    private func writeLogs(to set: inout MetricSet) {
        let logs = figures.output.figures
        let store = figures.output.store?.figures ?? LogStore.Figures()
        set.number("hearth_log_lines_total", .counter, logs.lines, "Lines that the host and its functions have logged.")
        set.begin(
            "hearth_log_lines_dropped_total", .counter, "Lines that were not written, by destination: the reader was too slow, or the disk full.")
        set.sample([("where", "output")], logs.droppedByOutput)
        set.sample([("where", "store")], store.dropped)
        set.number(
            "hearth_log_limited_bytes_total", .counter, logs.limitedBytes,
            "Bytes that functions logged beyond workers.logBytesPerSecond, and that were dropped.")
        set.number("hearth_log_stored_bytes", .gauge, store.bytes, "Size of the stored lines on the disk.")
        set.number("hearth_log_followers", .gauge, store.followers, "Readers that follow the log.")
    }

    // MARK: The database

    private func writeDatabase(to set: inout MetricSet) {
        let (writer, reader) = (databases.writer, databases.reader)
        set.begin("hearth_database_writes_total", .counter, "Writes by operation and outcome.")
        for operation in WriterFigures.Operation.allCases {
            for outcome in WriterFigures.Outcome.allCases {
                set.sample([("operation", "\(operation)"), ("outcome", "\(outcome)")], writer.count(operation, outcome))
            }
        }
        set.begin("hearth_database_reads_total", .counter, "Reads by operation and outcome.")
        for kind in ReaderFigures.Kind.allCases {
            for outcome in ReaderFigures.Outcome.allCases {
                set.sample([("operation", "\(kind)"), ("outcome", "\(outcome)")], reader.count(kind, outcome))
            }
        }
        set.number("hearth_database_read_bytes_total", .counter, reader.bytes, "Bytes of JSON that reads returned.")
        set.begin("hearth_database_commit_seconds", .histogram, "How long transactions took to become durable.")
        set.sample([], writer.commits)
        set.begin("hearth_database_commit_writes", .histogram, "Writes per transaction; internal transactions have none.")
        set.sample([], writer.batches)
        set.number("hearth_database_namespaces_open", .gauge, figures.writers.count, "Databases that are open.")
        set.number("hearth_database_listeners", .gauge, writer.listeners, "Event streams and other listeners for changes.")
        set.number("hearth_database_stored_bytes", .gauge, writer.storedBytes, "Size of the open databases on the disk.")
    }

    private func writeLive(to set: inout MetricSet) {
        let live = figures.loops.reduce(LiveFigures()) { $0 + $1.live }
        set.begin("hearth_live_connections", .gauge, "Open live connections of clients, by transport.")
        set.sample([("transport", "websocket")], live.sockets)
        set.sample([("transport", "polling")], live.polls)
        set.number("hearth_live_listens", .gauge, live.listens, "Open listens of live connections.")
        set.number("hearth_live_presences", .gauge, live.presences, "Live connections that have sent onDisconnect operations.")
        set.number(
            "hearth_live_mistakes_total", .counter, live.mistakes,
            "Live connections that were ended because the client has violated the protocol.")
    }

    private func writeOutbox(to set: inout MetricSet) {
        let delivery = figures.delivery.figures
        let others = [figures.userEvents.counts, figures.schedules.outboxCounts, figures.tasks.outboxCounts]
        set.number(
            "hearth_outbox_events_waiting", .gauge, databases.writer.waitingEvents + others.reduce(0) { $0 + $1.waiting },
            "Events that are not processed yet.")
        set.number(
            "hearth_outbox_dead_letters_kept", .gauge, databases.writer.deadLetters + others.reduce(0) { $0 + $1.deadLetters },
            "Dead letters that are kept.")
        set.begin("hearth_outbox_deliveries_total", .counter, "Attempts to process events, by outcome.")
        for outcome in DeliveryFigures.Outcome.allCases { set.sample([("outcome", "\(outcome)")], delivery.count(outcome)) }
        set.number("hearth_outbox_retries_total", .counter, delivery.retries, "Failed attempts that are retried.")
        set.begin("hearth_outbox_dead_letters_total", .counter, "Events that became dead letters, by reason.")
        for reason in DeadLetter.Reason.allCases { set.sample([("reason", "\(reason)")], delivery.count(reason)) }
        set.number(
            "hearth_outbox_dead_letters_dropped_total", .counter, delivery.droppedDeadLetters,
            "Dead letters that were dropped for newer ones.")
    }

    // MARK: The process

    private func writeProcess(to set: inout MetricSet) {
        let process = figures.process
        set.begin("hearth_build_info", .gauge, "The version of the host; the value is always 1.")
        set.sample([("version", HearthVersion.text)], 1)
        set.number(
            "process_cpu_seconds_total", .counter, process.cpuSeconds,
            "Processor time of the host, without its instances.")
        set.number("process_resident_memory_bytes", .gauge, process.residentBytes, "Resident memory of the host.")
        set.number("process_virtual_memory_bytes", .gauge, process.virtualBytes, "Virtual memory of the host.")
        set.number("process_open_fds", .gauge, process.openFiles, "Open files and sockets of the host.")
        set.number("process_max_fds", .gauge, process.openFilesMax, "The most files and sockets that the host may have open.")
        set.number("process_threads", .gauge, process.threads, "Threads of the host.")
        set.number("process_start_time_seconds", .gauge, process.startSeconds, "When the host was started, in seconds since 1970.")
    }
}
