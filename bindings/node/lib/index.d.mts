export * from './index.js';
import * as libshell from './index.js';
export default libshell;
