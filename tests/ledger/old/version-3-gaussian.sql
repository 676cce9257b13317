CREATE TABLE rainbow_budget (
	id INTEGER NOT NULL CHECK (id = 1), 
	version INTEGER NOT NULL, 
	dataset TEXT NOT NULL, 
	unit TEXT NOT NULL, 
	neighbors TEXT NOT NULL, 
	kind TEXT NOT NULL, 
	total_epsilon TEXT, 
	total_delta TEXT, 
	total_mu_squared TEXT, 
	total_rho TEXT, 
	spent_epsilon TEXT, 
	spent_delta TEXT, 
	spent_mu_squared TEXT, 
	spent_rho TEXT, 
	entries INTEGER NOT NULL, 
	sources TEXT NOT NULL, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (id)
);
INSERT INTO "rainbow_budget" VALUES(1,3,'town-2026','{"kind": "person", "column": "voter"}','added or removed','gaussian',NULL,NULL,'4',NULL,NULL,NULL,'13/36',NULL,2,'["votes, final count", "votes, first count"]','7bb61da6b1bc15be8f4d77755ed8b424f6318baf64dcda19d9af8a20d94b28a5');
CREATE TABLE rainbow_entries (
	number INTEGER NOT NULL, 
	time TEXT NOT NULL, 
	name TEXT, 
	source TEXT, 
	question TEXT NOT NULL, 
	mechanism TEXT, 
	guarantee TEXT NOT NULL, 
	epsilon TEXT, 
	delta TEXT, 
	mu_squared TEXT, 
	rho TEXT, 
	answer TEXT, 
	seal TEXT NOT NULL, 
	PRIMARY KEY (number), 
	UNIQUE (name)
);
INSERT INTO "rainbow_entries" VALUES(1,'2026-11-17T12:35:39+00:00','poll 0','votes, final count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "gaussian", "mu": "1/2"}',NULL,NULL,'1/4',NULL,'"red"','a4a2939ac1f2d47800598caae7e7d11cfffdb7b815c1615088c5d4e9cb8de366');
INSERT INTO "rainbow_entries" VALUES(2,'2026-11-17T12:35:39+00:00',NULL,'votes, first count','{"among":["red","green"],"column":"choice","question":"winner"}','{"kind":"exponential"}','{"kind": "gaussian", "mu": "1/3"}',NULL,NULL,'1/9',NULL,'"gr\u00fcn"','46e93f35537b4d2b2aa0a253738740a3da8ef4b626592313dc693dd0924d5004');
