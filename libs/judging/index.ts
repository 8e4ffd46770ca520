export { ConditionJudge, type ConditionJudgeParts, JUDGE_LIMITS, type JudgeLimits } from './condition-judge.adapter.js';
