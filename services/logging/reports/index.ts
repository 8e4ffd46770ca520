export { ReportWriter } from './report.reactor.js';
