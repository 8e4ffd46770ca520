const AIP = 'services/aip-gateway/sockets/aip.int.spec.ts';
const EMBEDDER = 'services/planner/experience/metered-embedder.spec.ts';
const FIGURES = 'services/logging/figures/figures.int.spec.ts';
const FILES = 'services/aip-gateway/files/file-desk.int.spec.ts';
const ROUNDS = 'services/planner/rounds/round-records.spec.ts';

/** What a day of people causes is seen on that day; these metrics are moved by the spec that is named. */
export const CAUSED_ELSEWHERE: Readonly<Record<string, string>> = {
  orrery_aip_devices_contended_total: 'services/aip-gateway/devices/foreign-client.int.spec.ts',
  orrery_aip_file_bytes_total: FILES,
  orrery_aip_files_total: FILES,
  orrery_aip_frames_refused_total: AIP,
  orrery_aip_handshakes_refused_total: AIP,
  orrery_aip_results_delivered_total: 'services/aip-gateway/sockets/resume.int.spec.ts',
  orrery_aip_sessions_replaced_total: AIP,
  orrery_append_conflicts_total: 'libs/event-log/metered-log.spec.ts',
  orrery_dead_letters: FIGURES,
  orrery_durable_lag_messages: FIGURES,
  orrery_durable_lag_seconds: FIGURES,
  orrery_durable_redelivered_messages: FIGURES,
  orrery_embedding_calls_total: EMBEDDER,
  orrery_embedding_cost_usd_total: EMBEDDER,
  orrery_embedding_tokens_total: EMBEDDER,
  orrery_logging_lag_messages: FIGURES,
  orrery_logging_lag_seconds: FIGURES,
  orrery_look_failed: 'libs/platform/watch/metrics.spec.ts',
  orrery_model_cost_usd_total: ROUNDS,
  orrery_planner_rounds_live: 'services/planner/planner.int.spec.ts',
  orrery_planner_round_seconds: ROUNDS,
  orrery_planner_rounds_total: ROUNDS,
};
