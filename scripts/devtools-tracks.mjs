#!/usr/bin/env node
// The tracks that DevTools draws above the threads, as its engine has them: a reference for the tests.
//
//   node scripts/devtools-tracks.mjs [--engine DIR] TRACE.json[.gz]
//
// DIR has engine.mjs and the built engine [default: ../shared/oracle beside the project].
// Output: JSON lines [track, kind, name, ts µs, dur µs, key, more]. `more` is the score of a layout shift or cluster, the
// input delay, processing time and presentation delay of an interaction, or the track and group of an entry of an extension.
// Status 2 if the engine refuses the trace.
import path from 'node:path';
import {parseArgs} from 'node:util';

const {values, positionals: [file]} = parseArgs({allowPositionals: true, options: {engine: {type: 'string'}}});
const folder = values.engine ?? path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../../shared/oracle');
const {Trace, load, run} = await import(path.resolve(folder, 'engine.mjs'));

/** TimelineFlameChartDataProvider.ts: the title of a frame. */
function frame({idle, dropped, isPartial}) {
  if (idle) return ['idle frame', 'Idle frame'];
  if (!dropped) return ['frame', 'Frame'];
  return isPartial ? ['partially presented frame', 'Partially-presented frame'] : ['dropped frame', 'Dropped frame'];
}

/** Name.ts nameForInteractionEvent. */
function interaction(event) {
  const category = Trace.Handlers.ModelHandlers.UserInteractions.categoryOfInteraction(event).toLowerCase();
  return [`${category} interaction`, category[0].toUpperCase() + category.slice(1)];
}

const {extensionDataInPerformanceTiming, extensionDataInConsoleTimeStamp} = Trace.Handlers.ModelHandlers.ExtensionTraceData;
const isOwn = timing => !extensionDataInPerformanceTiming(timing).devtoolsObj;

/** TimingsTrackAppender.ts, and the time stamps with a start or an end. */
function* timings({UserTimings, ExtensionTraceData}, key) {
  const {performanceMeasures, performanceMarks, consoleTimings, timestampEvents} = UserTimings;
  for (const event of performanceMeasures.filter(isOwn)) yield ['measure', event.name, event.ts, event.dur, key(event)];
  for (const event of performanceMarks.filter(isOwn)) yield ['mark', `[mark]: ${event.name}`, event.ts, 0, key(event)];
  for (const event of consoleTimings) yield ['console.time', event.name, event.ts, event.dur, key(event)];
  for (const event of ExtensionTraceData.extensionMarkers) yield ['marker', event.name, event.ts, event.dur ?? 0, key(event)];
  const long = new Map(ExtensionTraceData.syntheticConsoleEntriesForTimingsTrack.map(event => [event.rawSourceEvent, event]));
  for (const event of timestampEvents.filter(stamp => !extensionDataInConsoleTimeStamp(stamp).devtoolsObj)) {
    const {ts, dur} = long.get(event) ?? event;
    const {name, message} = event.args.data ?? {message: '(name unknown)'};
    yield ['console.timeStamp', `TimeStamp: ${name ?? message}`, ts, dur ?? 0, key(event)];
  }
}

/** Every row of every track. */
function* rows(data, key) {
  const {Frames, Animations, UserInteractions, LayoutShifts, GPU, Screenshots} = data;
  for (const event of Frames.frames) yield ['frames', ...frame(event), event.ts, event.duration, null, null];
  for (const event of Animations.animations) {
    const name = event.args.data.beginEvent.args.data?.displayName || event.name;
    yield ['animations', 'animation', name, event.ts, event.dur, key(event), null];
  }
  for (const row of timings(data, key)) yield ['timings', ...row, null];
  for (const event of UserInteractions.interactionEventsWithNoNesting) {
    const {inputDelay, mainThreadHandling, presentationDelay} = event;
    const parts = [inputDelay, mainThreadHandling, presentationDelay];
    yield ['interactions', ...interaction(event), event.ts, event.dur, key(event), parts];
  }
  for (const {events, ts, dur, worstShiftEvent, clusterCumulativeScore} of LayoutShifts.clusters) {
    const worst = worstShiftEvent ? key(worstShiftEvent) : null;
    yield ['layout-shifts', 'cluster', 'Layout shift cluster', ts, dur, worst, clusterCumulativeScore];
    for (const event of events) {
      yield ['layout-shifts', 'layout shift', 'Layout shift', event.ts, 0, key(event), event.args.data.weighted_score_delta];
    }
  }
  for (const {entriesByTrack, name, isTrackGroup} of data.ExtensionTraceData.extensionTrackData) {
    for (const [track, entries] of Object.entries(entriesByTrack)) {
      for (const event of entries) {
        const of = [track, isTrackGroup ? name : null];
        yield ['extension-track', 'entry', event.name, event.ts, event.dur ?? 0, key(event), of];
      }
    }
  }
  for (const event of GPU.mainGPUThreadTasks) yield ['gpu', 'task', 'GPU', event.ts, event.dur ?? 0, key(event), null];
  for (const event of [...Screenshots.legacySyntheticScreenshots ?? [], ...Screenshots.screenshots ?? []]) {
    yield ['screenshots', 'screenshot', 'Screenshot', event.ts, 0, key(event.rawSourceEvent ?? event).replace('s-', 'r-'), null];
  }
}

await run(async lines => {
  const {parsed: {data}, key} = await load(file);
  for (const row of rows(data, key)) lines.print(row);
});
