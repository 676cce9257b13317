CREATE TABLE rainbow_budget (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	kind TEXT NOT NULL, 
	neighbors TEXT NOT NULL, 
	total_epsilon TEXT, 
	total_delta TEXT, 
	total_mu_squared TEXT, 
	spent_epsilon TEXT, 
	spent_delta TEXT, 
	spent_mu_squared TEXT, 
	entries INTEGER NOT NULL, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rainbow_budget" VALUES(1,1,'gaussian','added or removed',NULL,NULL,'4',NULL,NULL,'13/36',2,'0659db21b653cffa4a3344547ebfc4a17b9e8f69cde6e01977280571a361301e');
CREATE TABLE rainbow_entries (
	number INTEGER NOT NULL, 
	time TEXT NOT NULL, 
	name TEXT, 
	question TEXT NOT NULL, 
	guarantee TEXT NOT NULL, 
	epsilon TEXT, 
	delta TEXT, 
	mu_squared TEXT, 
	answer TEXT, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (name)
);
INSERT INTO "rainbow_entries" VALUES(1,'2026-11-17T12:35:36+00:00','poll 0','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind": "gaussian", "mu": "1/2"}',NULL,NULL,'1/4','"red"','0482669378076fbd8f084f36bf3f9e37cd1108fcfcae5eb1991db6915dc6a528');
INSERT INTO "rainbow_entries" VALUES(2,'2026-11-17T12:35:36+00:00',NULL,'{"among":["red","green"],"column":"choice","question":"winner"}','{"kind": "gaussian", "mu": "1/3"}',NULL,NULL,'1/9','"gr\u00fcn"','9eb6300158d6ed6e601e1d255152cc4c9db13b8fb50efef59f6ff4c946a8cf65');
