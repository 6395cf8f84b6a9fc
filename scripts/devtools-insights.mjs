#!/usr/bin/env node
// Prints the insights that DevTools' engine computes for a trace, as JSON lines: one for each insight of each insight set.
//
//   scripts/devtools-insights.mjs TRACE.json[.gz]
//
// The engine is that of ../shared/oracle, or of the folder DEVTOOLS_ENGINE, which must be built (`npm run build` there).
// Members of `details` have the names of `tracemill report --json`. Exit status 2: DevTools refuses the file.
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const folder = process.env.DEVTOOLS_ENGINE ?? path.join(import.meta.dirname, '../../shared/oracle');
const {load, run, Usage} = await import(pathToFileURL(path.join(folder, 'engine.mjs')));

const ms = us => us / 1000;
const named = (request, key) => ({key: key(request), url: request.args.data.url});

/** Members of an insight's model, by the insight's name in the engine. */
const DETAILS = {
  DocumentLatency: ({data}, key) => data && {
    key: key(data.documentRequest), server_response_ms: data.serverResponseTime, redirect_ms: data.redirectDuration,
    redirects: data.documentRequest.args.data.redirects.length, uncompressed_bytes: data.uncompressedResponseBytes,
  },
  CharacterSet: ({data}, key) => data && {
    key: key(data.documentRequest), in_header: data.hasHttpCharset, in_document: data.metaCharsetDisposition ?? null,
  },
  Viewport: ({mobileOptimized, viewportEvent, longPointerInteractions, metricSavings}, key) => ({
    mobile_optimized: mobileOptimized, key: key(viewportEvent), interactions: (longPointerInteractions ?? []).map(key),
    inp_savings_ms: metricSavings?.INP ?? null,
  }),
  ModernHTTP: ({http1Requests}, key) => ({requests: http1Requests.map(request => named(request, key))}),
  Cache: ({requests, wastedBytes}, key) => ({
    wasted_bytes: wastedBytes,
    requests: requests.map(({request, ttl, wastedBytes}) => ({...named(request, key), ttl_s: ttl, wasted_bytes: wastedBytes})),
  }),
  FontDisplay: ({fonts}, key) => ({
    fonts: fonts.map(({name, request, display, wastedTime}) => ({
      name: name ?? null, ...named(request, key), display, wasted_ms: wastedTime,
    })),
  }),
  ImageDelivery: ({optimizableImages, wastedBytes}, key) => ({
    wasted_bytes: wastedBytes,
    images: optimizableImages.map(({request, optimizations, byteSavings, largestImagePaint}) => ({
      ...named(request, key), paint: key(largestImagePaint), wasted_bytes: byteSavings,
      optimizations: optimizations.map(({type, byteSavings, fileDimensions: file, displayDimensions: display}) => ({
        type: type.toLowerCase().replaceAll('_', '-'), bytes: byteSavings,
        file: file ? [file.width, file.height] : null, display: display ? [display.width, display.height] : null,
      })),
    })),
  }),
  DOMSize: ({largeUpdates, maxDOMStats}, key) => ({
    updates: largeUpdates.map(({duration, size, event}) => ({name: event.name, key: key(event), dur_ms: duration, size})),
    dom: maxDOMStats ? {
      key: key(maxDOMStats), elements: maxDOMStats.args.data.totalElements,
      depth: maxDOMStats.args.data.maxDepth?.depth ?? null, children: maxDOMStats.args.data.maxChildren?.numChildren ?? null,
    } : null,
  }),
  SlowCSSSelector: ({totalElapsedMs, totalMatchAttempts, totalMatchCount, topSelectorElapsedMs, topSelectorMatchAttempts}) => {
    const selector = timing => timing && {
      selector: timing.selector, sheet: timing.style_sheet_id, elapsed_ms: ms(timing['elapsed (us)']),
      attempts: timing.match_attempts, matches: timing.match_count,
    };
    return {
      elapsed_ms: totalElapsedMs, attempts: totalMatchAttempts, matches: totalMatchCount,
      slowest: selector(topSelectorElapsedMs), most_tried: selector(topSelectorMatchAttempts),
    };
  },
  LCPDiscovery: ({lcpRequest, earliestDiscoveryTimeTs, checklist}, key) => checklist && {
    ...named(lcpRequest, key), high_priority: checklist.priorityHinted.value, in_document: checklist.requestDiscoverable.value,
    eager: checklist.eagerlyLoaded.value,
    delay_ms: earliestDiscoveryTimeTs ? ms(lcpRequest.ts - earliestDiscoveryTimeTs) : null,
  },
  NetworkDependencyTree: ({rootNodes, maxTime, preconnectedOrigins}, key) => {
    const node = ({request, timeFromInitialRequest, children, isLongest}) => ({
      ...named(request, key), time_ms: ms(timeFromInitialRequest), longest: Boolean(isLongest), children: children.map(node),
    });
    return {
      longest_ms: ms(maxTime), chains: rootNodes.map(node),
      preconnected: preconnectedOrigins.map(({url, unused, source}) => ({url, unused, in_header: source !== 'DOM'})),
    };
  },
};

await run(async lines => {
  const [file, ...rest] = process.argv.slice(2);
  if (!file || rest.length) throw new Usage('usage: scripts/devtools-insights.mjs FILE');
  const {parsed: {insights}, key} = await load(file, {insights: true});
  for (const set of insights?.values() ?? []) {
    for (const [insight, details] of Object.entries(DETAILS)) {
      const model = set.model[insight];
      const error = set.modelErrors[insight];
      lines.print({
        navigation: set.navigation ? key(set.navigation) : null, insight, state: model?.state ?? null,
        warnings: model?.warnings ?? [], error: error ? error.message : null,
        details: model ? details(model, key) ?? null : null,
      });
    }
  }
});
