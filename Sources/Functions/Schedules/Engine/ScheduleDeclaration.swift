import Configuration
import EventDelivery
import FunctionWorker
import RealtimeDatabase

/// The checked schedule of a function.
struct ScheduleDeclaration {
    var schedule: Schedule
    var zone: ScheduleTimeZone
    /// As declared.
    var trigger: ScheduleTrigger

    /// Schedule and time zone, for the store: due times before a change of it do not count.
    var text: String { "\(trigger.schedule) (\(trigger.timeZone))" }

    init(_ trigger: ScheduleTrigger, zones: TimeZones) throws(ScheduleError) {
        do throws(ScheduleError) {
            schedule = try Schedule(parsing: trigger.schedule)
        } catch {
            throw ScheduleError("the schedule \"\(trigger.schedule.prefix(Schedule.textBytesMax))\": \(error)")
        }
        zone = try zones.zone(named: trigger.timeZone)
        self.trigger = trigger
    }

    /// The treatment of a run after a failed attempt, which `progress` includes.
    func retry(of event: OutboxEvent, after progress: DeliveryProgress, now: Int64) -> EventRetry {
        let retry = trigger.retry
        guard retry.goesOn(failures: progress.attempts, milliseconds: now - progress.since) else { return .giveUp(.failed) }
        let delay = retry.backoffMilliseconds(beforeRepetition: progress.attempts)
        // The next run takes the place of further repetitions.
        if !schedule.isInterval, let next = schedule.next(after: event.time / 1000, in: zone), now + delay >= next * 1000 {
            return .giveUp(.expired)
        }
        return .after(milliseconds: delay)
    }

    /// The newest due times after `base` and until `now`, ascending.
    ///
    /// - Returns: at most `most`, and whether there are more.
    func newest(_ most: Int, after base: Int64, through now: Int64) -> (times: [Int64], hasMore: Bool) {
        if schedule.isInterval {
            // The next run counts from the end of this one, so only one is due.
            guard let due = schedule.next(after: base, in: zone), due <= now else { return ([], false) }
            return ([due], false)
        }
        // Looks back an hour, then further and further.
        var seconds: Int64 = 3600
        while true {
            let start = max(base, now - seconds)
            var times: [Int64] = []
            var time = start
            while let next = schedule.next(after: time, in: zone), next <= now {
                times.append(next)
                time = next
            }
            if times.count >= most || start == base { return (times.suffix(most), start > base || times.count > most) }
            seconds *= 4
        }
    }
}

extension PluginManifest {
    /// Checks the schedules of all functions, and that this machine knows their time zones.
    ///
    /// - Throws: a message with all invalid schedules.
    package func checkSchedules(zones: TimeZones = TimeZones()) throws(PluginRefusal) {
        let problems = functions.compactMap { function -> String? in
            guard case .schedule(let trigger) = function.trigger else { return nil }
            do throws(ScheduleError) {
                _ = try ScheduleDeclaration(trigger, zones: zones)
                return nil
            } catch {
                return "endpoints.\(function.name).scheduleTrigger: \(error)"
            }
        }
        if !problems.isEmpty { throw PluginRefusal("\(source): \(problems.joined(separator: "; "))") }
    }
}
